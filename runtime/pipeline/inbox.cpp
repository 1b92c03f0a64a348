// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/inbox.hpp"

namespace sluice::pipeline {

void Inbox::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    tasks_.push_back(std::move(task));
  }
  arrived_.notify_one();
}

void Inbox::ring() {
  {
    const std::lock_guard lock(mutex_);
    rung_ = true;
  }
  arrived_.notify_one();
}

void Inbox::run(Instant until) {
  {
    std::unique_lock lock(mutex_);
    if (tasks_.empty() && !rung_ && until > Instant{0}) {
      const std::chrono::steady_clock::time_point at{std::chrono::duration_cast<std::chrono::steady_clock::duration>(until)};
      arrived_.wait_until(lock, at, [&] { return !tasks_.empty() || rung_; });
    }
    rung_ = false;
    std::swap(tasks_, running_);
  }
  for (Task& task : running_) task();
  running_.clear();
}

void Inbox::close() {
  std::vector<Task> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  std::swap(tasks_, dropped);
}

}  // namespace sluice::pipeline
