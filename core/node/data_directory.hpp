// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/random.hpp"
#include "core/base/result.hpp"
#include "core/base/u128.hpp"
#include "core/storage/storage.hpp"

namespace sluice::node {

// Version of the layout as a whole: docs/reference/data-directory.md.
inline constexpr std::uint32_t kDirectoryFormat = 1;

// One group's log: `groups/<group>-<incarnation>`.
struct GroupDirectory {
  GroupId group;
  Incarnation incarnation;
  friend auto operator<=>(const GroupDirectory&, const GroupDirectory&) = default;
};
[[nodiscard]] std::string to_string(GroupDirectory directory);
[[nodiscard]] std::optional<GroupDirectory> parse_group_directory(std::string_view name);

// What an existing data directory says of itself, without a lock and without a change. Errors as DataDirectory::open.
[[nodiscard]] Result<U128> read_cluster_id(storage::Storage& storage, const std::string& path);
// See DataDirectory::generation().
[[nodiscard]] Result<std::optional<U128>> read_generation(storage::Storage& storage, const std::string& path);
[[nodiscard]] std::string group_path(const std::string& data_dir, GroupDirectory directory);

// The locked data directory of one node: who may use it, which format and cluster it has, where its groups are. All calls block.
// Owned by the node; thread-safe, because it holds nothing that changes after open.
class DataDirectory {
 public:
  // Locks it. An existing directory keeps its cluster id; a directory without a `format` file is new: it must be empty but for what an
  // interrupted first start leaves, and becomes a directory of this node when finish_format() is called.
  // Errors: storage.locked, node.newer_format, node.foreign_directory, node.damaged_directory, base.io.
  [[nodiscard]] static Result<DataDirectory> open(storage::Storage& storage, std::string path, Random& random);

  [[nodiscard]] bool is_new() const { return is_new_; }
  // Makes the directory an existing one: called once the empty catalog is durable.
  [[nodiscard]] Result<void> finish_format();

  // The run whose witness may be believed: that of the newest start which recorded itself here. None: no witness may be.
  [[nodiscard]] Result<std::optional<U128>> generation() const;
  // Durable when it returns, before anything is acknowledged: with none given, or with no room for it, no witness is believed any more.
  // Whether it was recorded.
  [[nodiscard]] Result<bool> begin_generation(std::optional<U128> generation) const;

  [[nodiscard]] U128 cluster_id() const { return cluster_id_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string group_path(GroupDirectory directory) const;
  // Every group directory that is there, sorted. Names that are none are ignored.
  [[nodiscard]] Result<std::vector<GroupDirectory>> list_groups() const;

  // Whether anything is in the group's place.
  [[nodiscard]] Result<bool> has_group(GroupDirectory directory) const;

  // Out of the way, durably; its files go with empty_trash().
  [[nodiscard]] Result<void> move_to_trash(GroupDirectory directory) const;
  // Removes whatever can be removed. What could not be, and why.
  [[nodiscard]] std::vector<Error> empty_trash() const;

 private:
  DataDirectory(storage::Storage& storage, std::string path, storage::LockPtr lock)
      : storage_(&storage), path_(std::move(path)), lock_(std::move(lock)) {}
  [[nodiscard]] Result<void> check_new(const std::vector<std::string>& names) const;

  storage::Storage* storage_;
  std::string path_;
  storage::LockPtr lock_;
  U128 cluster_id_;
  bool is_new_ = false;
};

}  // namespace sluice::node
