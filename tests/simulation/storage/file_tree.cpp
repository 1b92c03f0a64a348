// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/file_tree.hpp"

#include <algorithm>
#include <cerrno>

namespace sluice::sim {
namespace {

constexpr FileTree::Id kRootId = 0;

// The next name of a path, taken off its front; empty at the end.
std::string_view take_name(std::string_view& path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  const std::string_view name = path.substr(0, path.find('/'));
  path.remove_prefix(name.size());
  return name;
}

}  // namespace

FileTree::FileTree() {
  nodes_[kRootId].directory = true;
}

Outcome<FileTree::Id> FileTree::walk(std::string_view path, Entries Node::* entries) const {
  Id at = kRootId;
  for (std::string_view name = take_name(path); !name.empty(); name = take_name(path)) {
    const Node& node = nodes_.at(at);
    if (!node.directory) return std::unexpected(ENOTDIR);
    const auto entry = (node.*entries).find(std::string(name));
    if (entry == (node.*entries).end()) return std::unexpected(ENOENT);
    at = entry->second;
  }
  return at;
}

Outcome<FileTree::Id> FileTree::find_directory(const std::string& path) const {
  const auto found = find(path);
  if (found && !nodes_.at(*found).directory) return std::unexpected(ENOTDIR);
  return found;
}

Outcome<FileTree::Place> FileTree::place_of(const std::string& path) const {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return std::unexpected(EBUSY);  // the root has no name
  const std::size_t slash = path.find_last_of('/', end);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const auto directory = find_directory(path.substr(0, begin));
  if (!directory) return std::unexpected(directory.error());
  return Place{*directory, path.substr(begin, end + 1 - begin)};
}

Outcome<bool> FileTree::is_directory(const std::string& path) const {
  const auto found = find(path);
  if (!found) return std::unexpected(found.error());
  return nodes_.at(*found).directory;
}

Outcome<FileTree::Id> FileTree::find_file(const std::string& path) const {
  const auto found = find(path);
  if (found && nodes_.at(*found).directory) return std::unexpected(EISDIR);
  return found;
}

Outcome<FileTree::Id> FileTree::find_stable_file(const std::string& path) const {
  const auto found = walk(path, &Node::stable_entries);
  if (found && nodes_.at(*found).directory) return std::unexpected(EISDIR);
  return found;
}

Outcome<FileTree::Id> FileTree::create_file(const std::string& path) {
  const auto place = place_of(path);
  if (!place) return std::unexpected(place.error());
  if (find(path)) return std::unexpected(EEXIST);
  const Id id = next_++;
  nodes_[id] = Node{};
  change({{place->directory, place->name, id}});
  return id;
}

Outcome<void> FileTree::make_directory(const std::string& path) {
  const auto created = create_file(path);
  if (!created) return std::unexpected(created.error());
  nodes_.at(*created).directory = true;
  return {};
}

bool FileTree::contains(Id directory, Id inner) const {
  if (directory == inner) return true;
  const Entries& entries = nodes_.at(directory).entries;
  return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return contains(entry.second, inner); });
}

Outcome<void> FileTree::may_replace(Id source, Id target) const {
  const bool from_directory = nodes_.at(source).directory;
  const Node& there = nodes_.at(target);
  if (from_directory && !there.directory) return std::unexpected(ENOTDIR);
  if (!from_directory && there.directory) return std::unexpected(EISDIR);
  if (!there.entries.empty()) return std::unexpected(ENOTEMPTY);
  return {};
}

Outcome<void> FileTree::rename(const std::string& from, const std::string& to) {
  const auto from_place = place_of(from);
  if (!from_place) return std::unexpected(from_place.error());
  const auto to_place = place_of(to);
  if (!to_place) return std::unexpected(to_place.error());
  const auto source = find(from);
  if (!source) return std::unexpected(source.error());
  if (contains(*source, to_place->directory)) return std::unexpected(EINVAL);
  const auto target = find(to);
  if (target == source) return {};
  if (target && contains(*target, from_place->directory)) return std::unexpected(ENOTEMPTY);
  if (target) {
    if (auto allowed = may_replace(*source, *target); !allowed) return allowed;
  }
  change({{to_place->directory, to_place->name, *source}, {from_place->directory, from_place->name, std::nullopt}});
  return {};
}

Outcome<void> FileTree::remove(const std::string& path) {
  const auto place = place_of(path);
  if (!place) return std::unexpected(place.error());
  const auto found = find_file(path);
  if (!found) return std::unexpected(found.error());
  change({{place->directory, place->name, std::nullopt}});
  return {};
}

Outcome<void> FileTree::remove_directory(const std::string& path) {
  const auto place = place_of(path);
  if (!place) return std::unexpected(place.error());
  const auto found = find_directory(path);
  if (!found) return std::unexpected(found.error());
  if (!nodes_.at(*found).entries.empty()) return std::unexpected(ENOTEMPTY);
  change({{place->directory, place->name, std::nullopt}});
  return {};
}

Outcome<std::vector<std::string>> FileTree::list(const std::string& path) const {
  const auto found = find_directory(path);
  if (!found) return std::unexpected(found.error());
  std::vector<std::string> names;
  for (const auto& [name, id] : nodes_.at(*found).entries) names.push_back(name);
  return names;
}

void FileTree::apply(const NameChange& edits, Entries Node::* entries) {
  for (const Edit& edit : edits) {
    Entries& names = nodes_.at(edit.directory).*entries;
    if (edit.target) {
      names[edit.name] = *edit.target;
    } else {
      names.erase(edit.name);
    }
  }
}

void FileTree::change(NameChange edits) {
  apply(edits, &Node::entries);
  unsynced_.push_back(std::move(edits));
  if (unsynced_.size() > kNameChangesMax) commit([](std::size_t index, const NameChange&) { return index == 0; });
}

void FileTree::commit(const std::function<bool(std::size_t, const NameChange&)>& chosen) {
  std::map<std::pair<Id, std::string>, bool> needed;
  std::vector<bool> commits(unsynced_.size());
  for (std::size_t i = unsynced_.size(); i-- > 0;) {
    const NameChange& edits = unsynced_[i];
    commits[i] =
        chosen(i, edits) || std::any_of(edits.begin(), edits.end(), [&](const Edit& e) { return needed.contains({e.directory, e.name}); });
    if (!commits[i]) continue;
    for (const Edit& edit : edits) needed[{edit.directory, edit.name}] = true;
  }
  std::vector<NameChange> rest;
  for (std::size_t i = 0; i < unsynced_.size(); ++i) {
    if (commits[i]) {
      apply(unsynced_[i], &Node::stable_entries);
    } else {
      rest.push_back(std::move(unsynced_[i]));
    }
  }
  unsynced_ = std::move(rest);
}

Outcome<void> FileTree::sync_directory(const std::string& path) {
  const auto found = find_directory(path);
  if (!found) return std::unexpected(found.error());
  commit([&](std::size_t, const NameChange& edits) {
    return std::any_of(edits.begin(), edits.end(), [&](const Edit& e) { return e.directory == *found; });
  });
  sweep();
  return {};
}

void FileTree::commit_names_of(Id file) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < unsynced_.size(); ++i) {
    if (std::any_of(unsynced_[i].begin(), unsynced_[i].end(), [&](const Edit& e) { return e.target == file; })) count = i + 1;
  }
  commit([&](std::size_t index, const NameChange&) { return index < count; });
}

FileTree::Handle FileTree::hold(Id file) {
  std::weak_ptr<const void>& weak = nodes_.at(file).handle;
  Handle handle = weak.lock();
  if (!handle) {
    handle = std::make_shared<int>();
    weak = handle;
  }
  return handle;
}

void FileTree::lose_power(PowerLoss reached, NameOrder order, std::uint64_t seed) {
  SeededRandom random(seed);
  const std::size_t kept = random.below(unsynced_.size() + 1);
  commit([&](std::size_t index, const NameChange&) {
    if (reached != PowerLoss::kRandom) return reached == PowerLoss::kEverything;
    return order == NameOrder::kJournaled ? index < kept : random.below(2) == 0;
  });
  unsynced_.clear();
  for (auto& [id, node] : nodes_) {
    node.handle.reset();
    node.entries = node.stable_entries;
  }
  sweep();
  for (auto& [id, node] : nodes_) node.contents.lose_power(reached, random);
}

void FileTree::sweep() {
  std::vector<Id> open{kRootId};
  for (const auto& [id, node] : nodes_) {
    if (!node.handle.expired()) open.push_back(id);
  }
  for (const NameChange& edits : unsynced_) {
    for (const Edit& edit : edits) {
      open.push_back(edit.directory);
      if (edit.target) open.push_back(*edit.target);
    }
  }
  std::map<Id, bool> reachable;
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (!reachable.emplace(id, true).second) continue;
    for (const auto& [name, inner] : nodes_.at(id).entries) open.push_back(inner);
    for (const auto& [name, inner] : nodes_.at(id).stable_entries) open.push_back(inner);
  }
  std::erase_if(nodes_, [&](const auto& item) { return !reachable.contains(item.first); });
}

}  // namespace sluice::sim
