// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "runtime/pipeline/retry_schedule.hpp"

namespace sluice::pipeline {

// Where other threads leave work for a worker's thread: answers of the core, requests of the control plane. The number of tasks is bounded
// by what the worker has asked for. Shared with the answers that are still under way; what arrives after close() is dropped unread.
class Inbox {
 public:
  using Task = std::move_only_function<void()>;

  // [any thread]
  void post(Task task);
  // Ends the wait without work. [any thread]
  void ring();
  // Runs what is there. If there is nothing, waits for it until `until`. [worker]
  void run(Instant until);
  // [worker]
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Task> tasks_;
  std::vector<Task> running_;  // worker only; kept for its capacity
  bool rung_ = false;
  bool closed_ = false;
};

}  // namespace sluice::pipeline
