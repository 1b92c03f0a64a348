// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "core/base/random.hpp"
#include "core/storage/io_queue.hpp"
#include "tests/simulation/storage/sim_storage.hpp"

namespace sluice::sim {

inline constexpr std::size_t kQueuedJobsMax = 65'536;
inline constexpr std::size_t kIdleStepsMax = 1'000'000;

// The simulator's IoQueue: one thread, nothing runs inside submit. A step either runs one job, whole, or delivers one completion; the seed
// chooses among all that can, so jobs overlap and finish in any order. A job that met a slow or stuck operation has had its effect; its
// completion waits. A job that is held has not even begun. The storage outlives the queue.
class SimIoQueue final : public storage::IoQueue {
 public:
  SimIoQueue(SimStorage& storage, std::uint64_t seed) : storage_(storage), random_(seed) {}

  void submit(Job job, Done done) override;

  // False if nothing can move. Slow completions are waited for only when nothing else can.
  bool run_one();
  // The steps it took. What is stuck or held stays.
  std::size_t run_until_idle();

  // The `nth` job from now on (1 = the next one submitted) is held.
  void hold(std::uint64_t nth = 1) { held_.insert(submitted_ + nth); }
  // Everything stuck or held may go on.
  void release();
  // The process died: jobs that did not run never will, and no completion comes.
  void drop();

  [[nodiscard]] std::size_t waiting() const { return items_.size(); }  // jobs and completions, also stuck and held ones
  [[nodiscard]] std::size_t blocked() const;                           // of those, stuck or held

 private:
  struct Item {
    Job job;
    Done done;
    std::optional<Result<void>> outcome;  // once the job has run
    std::uint64_t ready_at = 0;           // step from which on it may move
    bool blocked = false;
  };
  void run_job(std::size_t at);

  SimStorage& storage_;
  SeededRandom random_;
  std::vector<Item> items_;
  std::set<std::uint64_t> held_;  // numbers of jobs
  std::uint64_t submitted_ = 0;
  std::uint64_t step_ = 0;
};

}  // namespace sluice::sim
