// SPDX-License-Identifier: Apache-2.0
#include "core/storage/io_queue.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace sluice::storage {

IoThreads::IoThreads(std::size_t threads) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

IoThreads::~IoThreads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void IoThreads::run(std::move_only_function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void IoThreads::work() {
  while (true) {
    std::move_only_function<void()> task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

void PostingIoQueue::submit(Job job, Done done) {
  threads_.run([job = std::move(job), done = std::move(done), post = post_]() mutable {
    Result<void> outcome = job();
    post([done = std::move(done), outcome = std::move(outcome)]() mutable { done(std::move(outcome)); });
  });
}

}  // namespace sluice::storage
