// SPDX-License-Identifier: Apache-2.0
// What looks at a whole tree from outside: sums, copies, a listing.
#include <cerrno>

#include <fmt/format.h>

#include "tests/simulation/storage/file_tree.hpp"

namespace sluice::sim {

std::uint64_t FileTree::allocated_pages() const {
  std::uint64_t pages = 0;
  for (const auto& [id, node] : nodes_) {
    for (const auto& [name, inner] : node.entries) pages += nodes_.at(inner).contents.buffered().allocated_pages();
  }
  return pages;
}

FileTree::Id FileTree::copy_node(const FileTree& other, Id from) {
  const Id id = next_++;
  Node node;
  node.directory = other.nodes_.at(from).directory;
  node.contents = other.nodes_.at(from).contents.settled_copy();
  // By value: `other` may be this tree, and it grows.
  const Entries entries = other.nodes_.at(from).entries;
  for (const auto& [name, inner] : entries) node.entries[name] = copy_node(other, inner);
  node.stable_entries = node.entries;
  nodes_[id] = std::move(node);
  return id;
}

Outcome<void> FileTree::copy(const FileTree& other, const std::string& from, const std::string& to) {
  const auto source = other.find(from);
  if (!source) return std::unexpected(source.error());
  const auto place = place_of(to);
  if (!place) return std::unexpected(place.error());
  if (find(to)) return std::unexpected(EEXIST);
  const Id id = copy_node(other, *source);
  Node& directory = nodes_.at(place->directory);
  directory.entries[place->name] = directory.stable_entries[place->name] = id;
  return {};
}

std::string FileTree::dump() const {
  std::string out;
  dump_directory(0, "", out);
  for (const NameChange& edits : unsynced_) {
    out += "unsynced:";
    for (const Edit& edit : edits)
      out += fmt::format(" {} {} in directory {}", edit.target ? fmt::format("file {} as", *edit.target) : "without", edit.name,
                         edit.directory);
    out += "\n";
  }
  return out;
}

void FileTree::dump_directory(Id directory, const std::string& path, std::string& out) const {
  const Node& node = nodes_.at(directory);
  out += fmt::format("{}/  directory {}\n", path, directory);
  for (const auto& [name, id] : node.entries) {
    const auto stable = node.stable_entries.find(name);
    const char* const how = stable == node.stable_entries.end() ? ", name not stable"
                            : stable->second != id              ? ", name stable for another"
                                                                : "";
    const Node& inner = nodes_.at(id);
    if (!inner.directory) {
      out += fmt::format("{}/{}  file {}{}, {} bytes, {} stable, {} unsynced changes\n", path, name, id, how,
                         inner.contents.buffered().size(), inner.contents.stable().size(), inner.contents.unsynced_changes());
      continue;
    }
    dump_directory(id, path + "/" + name, out);
  }
  for (const auto& [name, id] : node.stable_entries) {
    if (!node.entries.contains(name)) out += fmt::format("{}/{}  {} on the device alone\n", path, name, id);
  }
}

}  // namespace sluice::sim
