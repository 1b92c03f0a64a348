// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/storage/io_queue.hpp"

namespace sluice::node {

// One thread with its own event loop. A group belongs to one shard for life, and everything of it runs there, so it needs no locks.
// post() is thread-safe; timers and io() are for the shard's thread, or for anybody before start(). The owner calls stop() before
// destroying.
class Shard {
 public:
  using Task = std::move_only_function<void()>;
  using TimerId = std::uint64_t;

  Shard(std::size_t index, storage::IoThreads& io_threads);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  void start();
  // In place of start(), on the caller's thread: runs what is posted and what is due by now, and returns.
  void poll();
  // Runs what was posted before, then ends the thread. Timers and completions of I/O that come later are dropped.
  void stop();

  // Runs the task on the shard's thread, later; before every task that is posted after this call returned, by whichever thread.
  void post(Task task);
  // Runs the task once after the delay, unless it is cancelled before.
  TimerId after(std::chrono::nanoseconds delay, Task task);
  // Of a timer that ran already: does nothing.
  void cancel(TimerId timer);

  [[nodiscard]] storage::IoQueue& io();
  [[nodiscard]] std::size_t index() const { return index_; }

 private:
  struct Loop;

  std::size_t index_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace sluice::node
