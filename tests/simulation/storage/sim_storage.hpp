// SPDX-License-Identifier: Apache-2.0
// The simulated twin of the operating system's file system.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/storage/storage.hpp"
#include "tests/simulation/storage/errc.hpp"
#include "tests/simulation/storage/fault_plan.hpp"
#include "tests/simulation/storage/file_tree.hpp"
#include "tests/simulation/storage/sim_process.hpp"

namespace sluice::sim {

// One machine's file system, in memory, which loses what real ones lose. It begins with an empty root directory; paths are absolute.
// Deterministic: the same calls with the same seeds leave the same bytes. Single-threaded. README.md says what is modelled and how.
// It outlives everything that got its process() and every file opened there; those of a dead process may still be called and fail.
class SimStorage {
 public:
  explicit SimStorage(SimOptions options = {});
  ~SimStorage();
  SimStorage(const SimStorage&) = delete;
  SimStorage& operator=(const SimStorage&) = delete;

  // What the code under test works on, until the process dies.
  [[nodiscard]] storage::Storage& process() { return *processes_.back(); }
  // Whether it met a crash of the plan.
  [[nodiscard]] bool crashed() const { return state_.crashed; }
  [[nodiscard]] FaultPlan& plan() { return state_.plan; }

  // The process dies, what was written stays; process() is a new one.
  void process_crash();
  // The machine dies. What was not synced survives as `reached` says; the seed decides for kRandom.
  void power_loss(PowerLoss reached, std::uint64_t seed = 0);

  // Writes that need more space give ENOSPC after the prefix that fits. In whole pages; none: unlimited.
  void set_capacity(std::optional<std::uint64_t> bytes) { state_.capacity_bytes = bytes; }
  [[nodiscard]] std::uint64_t used_bytes() const { return state_.tree.allocated_pages() * kPageBytes; }

  // The whole file system with what is buffered, as a snapshot of a virtual machine. Cheap; any number of them, restored any number of
  // times, also into another SimStorage. Restoring kills the process.
  [[nodiscard]] FileTree snapshot() const { return state_.tree; }
  void restore(const FileTree& snapshot);
  // Copies a file or directory of another machine, or of this one, as stable. `to` does not exist yet.
  void copy_tree(const SimStorage& other, const std::string& from, const std::string& to);

  // Damage to a file that exists: on the device and in what is read; a version of those bytes that is not synced yet may still cover it up.
  void flip_bit(const std::string& path, std::uint64_t position, unsigned bit = 0);
  // Damage on the device alone, seen after a power loss.
  void truncate_stable(const std::string& path, std::uint64_t size);
  // The system writes back what is not synced, and fails: these bytes count as clean. Each descriptor that the file has now is told by its
  // next sync; one that is opened later never is.
  void fail_writeback(const std::string& path);
  // What the page cache may do at any time: clean bytes are read from the device again. After a failed sync they are old ones.
  void evict_clean_pages(const std::string& path);

  // A file as everybody reads it, and as it is after PowerLoss::kNothing; none if it is not there. These are no operations.
  [[nodiscard]] std::optional<ByteVector> buffered(const std::string& path) const;
  [[nodiscard]] std::optional<ByteVector> stable(const std::string& path) const;
  [[nodiscard]] std::string dump() const { return state_.tree.dump(); }

 private:
  [[nodiscard]] FileContents& existing(const std::string& path);
  void begin_process();

  SimState state_;
  std::vector<std::unique_ptr<SimProcess>> processes_;  // the last one lives
};

}  // namespace sluice::sim
