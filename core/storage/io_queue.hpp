// SPDX-License-Identifier: Apache-2.0
// Submit and completion: how a shard does file work that may block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::storage {

// Runs a task on the owner's thread, later: never inside the call. Thread-safe, callable until the owner has joined its I/O.
using Post = std::function<void(std::move_only_function<void()>)>;

// Where a shard sends blocking jobs. One per shard; the simulator has its own.
class IoQueue {
 public:
  // A job runs on some other thread and touches nothing of the shard's but what it owns. It must not throw.
  using Job = std::move_only_function<Result<void>()>;
  // Runs on the shard's thread after its job, exactly once.
  using Done = std::move_only_function<void(Result<void>)>;

  virtual ~IoQueue() = default;
  // Never blocks and never runs anything inside the call. Jobs of one queue may overlap and finish in any order. [shard thread]
  virtual void submit(Job job, Done done) = 0;
};

// The threads that run jobs; shared by all queues of a node. The destructor runs what was submitted, then joins. [any thread]
class IoThreads {
 public:
  explicit IoThreads(std::size_t threads);
  ~IoThreads();
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  void run(std::move_only_function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::move_only_function<void()>> tasks_;  // bounded by the submitters: each log has one flush in flight and few reads
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

// Jobs on the threads, completions through `post`.
class PostingIoQueue final : public IoQueue {
 public:
  PostingIoQueue(IoThreads& threads, Post post) : threads_(threads), post_(std::move(post)) {}
  void submit(Job job, Done done) override;

 private:
  IoThreads& threads_;
  Post post_;
};

}  // namespace sluice::storage
