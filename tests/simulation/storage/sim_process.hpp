// SPDX-License-Identifier: Apache-2.0
// The inside of SimStorage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/storage/storage.hpp"
#include "tests/simulation/storage/fault_plan.hpp"
#include "tests/simulation/storage/file_tree.hpp"

namespace sluice::sim {

struct SimOptions {
  std::uint64_t seed = 1;  // of what a failing sync leaves behind
  NameOrder name_order = NameOrder::kJournaled;
  bool file_sync_commits_names = false;  // as ext4 has it; otherwise the name of a synced file is lost without sync_directory
};

// What the processes of one machine share.
struct SimState {
  SimOptions options;
  FileTree tree;
  FaultPlan plan;
  std::optional<std::uint64_t> capacity_bytes;
  std::map<FileTree::Id, std::weak_ptr<const void>> locks;  // of the process that lives
  std::uint64_t generation = 1;                             // of the process that lives
  bool crashed = false;                                     // it met a crash and is dead already
};

// The file system as one process sees it, until it dies.
class SimProcess final : public storage::Storage {
 public:
  SimProcess(SimState& state, std::uint64_t generation) : state_(state), generation_(generation) {}

  Result<storage::FilePtr> open(const std::string& path, storage::OpenMode mode) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> remove_directory(const std::string& directory) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Result<void> make_directories(const std::string& directory) override;
  Result<void> sync_directory(const std::string& directory) override;
  Result<storage::LockPtr> lock(const std::string& path) override;

 private:
  SimState& state_;
  std::uint64_t generation_;
};

}  // namespace sluice::sim
