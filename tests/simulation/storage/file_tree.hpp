// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/simulation/storage/file_contents.hpp"

namespace sluice::sim {

// Which unsynced changes of names a power loss may keep.
enum class NameOrder : std::uint8_t {
  kJournaled,    // the first ones, as many as the seed has it
  kIndependent,  // each for itself, but none without the earlier changes of the same name
};

// Beyond it, the oldest unsynced change of a name becomes stable, as a file system does it after some time.
inline constexpr std::size_t kNameChangesMax = 4096;

// A value or an errno.
template <typename T>
using Outcome = std::expected<T, int>;

// Directories and files, each with what everybody sees and what the device has. A change of names is atomic: a rename is never seen by
// half. Value type; a copy shares the pages of the files.
class FileTree {
 public:
  using Id = std::uint64_t;
  using Handle = std::shared_ptr<const void>;

  FileTree();

  [[nodiscard]] Outcome<bool> is_directory(const std::string& path) const;
  [[nodiscard]] Outcome<Id> find_file(const std::string& path) const;
  [[nodiscard]] Outcome<Id> create_file(const std::string& path);
  [[nodiscard]] Outcome<void> make_directory(const std::string& path);
  [[nodiscard]] Outcome<void> rename(const std::string& from, const std::string& to);
  [[nodiscard]] Outcome<void> remove(const std::string& path);
  [[nodiscard]] Outcome<void> remove_directory(const std::string& path);
  [[nodiscard]] Outcome<std::vector<std::string>> list(const std::string& path) const;
  // Makes the changes of this directory's names stable.
  [[nodiscard]] Outcome<void> sync_directory(const std::string& path);
  // Makes all changes of names up to the last one of this file stable.
  void commit_names_of(Id file);

  [[nodiscard]] FileContents& contents(Id file) { return nodes_.at(file).contents; }
  [[nodiscard]] const FileContents& contents(Id file) const { return nodes_.at(file).contents; }
  // A removed file stays as long as somebody has a handle of it.
  [[nodiscard]] Handle hold(Id file);

  void lose_power(PowerLoss reached, NameOrder order, std::uint64_t seed);
  // Forgets what no name and no handle leads to.
  void sweep();

  // As on the device when only synced things survive.
  [[nodiscard]] Outcome<Id> find_stable_file(const std::string& path) const;
  [[nodiscard]] std::uint64_t allocated_pages() const;  // of the files that have a name
  // Copies a file or directory of some tree here, all of it stable. `to` must not exist, its parent must.
  [[nodiscard]] Outcome<void> copy(const FileTree& other, const std::string& from, const std::string& to);
  // A line for each name and each unsynced change of one.
  [[nodiscard]] std::string dump() const;

 private:
  using Entries = std::map<std::string, Id>;
  struct Node {
    bool directory = false;
    FileContents contents;
    Entries entries;
    Entries stable_entries;
    std::weak_ptr<const void> handle;
  };
  struct Edit {
    Id directory = 0;
    std::string name;
    std::optional<Id> target;  // none: the name goes
  };
  using NameChange = std::vector<Edit>;
  struct Place {
    Id directory = 0;
    std::string name;
  };

  [[nodiscard]] Outcome<Id> walk(std::string_view path, Entries Node::* entries) const;
  [[nodiscard]] Outcome<Id> find(const std::string& path) const { return walk(path, &Node::entries); }
  [[nodiscard]] Outcome<Id> find_directory(const std::string& path) const;
  [[nodiscard]] Outcome<Place> place_of(const std::string& path) const;
  [[nodiscard]] bool contains(Id directory, Id inner) const;
  [[nodiscard]] Outcome<void> may_replace(Id source, Id target) const;
  void change(NameChange edits);
  void apply(const NameChange& edits, Entries Node::* entries);
  // Makes the chosen changes stable, with every earlier change of the same names.
  void commit(const std::function<bool(std::size_t, const NameChange&)>& chosen);
  Id copy_node(const FileTree& other, Id from);
  void dump_directory(Id directory, const std::string& path, std::string& out) const;

  std::map<Id, Node> nodes_;
  std::vector<NameChange> unsynced_;
  Id next_ = 1;
};

}  // namespace sluice::sim
