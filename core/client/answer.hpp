// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/result.hpp"
#include "core/node/errc.hpp"

namespace sluice::client {

// One blocking call: a completion for the shard, and the wait for it on the caller's thread. The completion may outlive the wait.
template <typename T>
class Answer {
 public:
  // Invoked at most once. Destroyed without it, because the node went away, it answers node.stopped.
  class Completer {
   public:
    explicit Completer(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
    Completer(Completer&&) = default;
    Completer& operator=(Completer&&) = delete;
    ~Completer() {
      if (answer_) answer_->set(fail(node::Errc::kStopped, "the node is gone"));
    }
    void operator()(Result<T> outcome) { std::exchange(answer_, nullptr)->set(std::move(outcome)); }

   private:
    std::shared_ptr<Answer> answer_;
  };

  // start(completer) begins the call.
  template <typename Start>
  [[nodiscard]] static Result<T> wait(std::chrono::milliseconds deadline, Start start) {
    const auto answer = std::make_shared<Answer>();
    start(Completer(answer));
    std::unique_lock lock(answer->mutex_);
    if (!answer->arrived_.wait_for(lock, deadline, [&] { return answer->outcome_.has_value(); })) {
      return fail(sluice::Errc::kTimeout, fmt::format("no answer within {} ms", deadline.count()));
    }
    return *std::move(answer->outcome_);
  }

 private:
  void set(Result<T> outcome) {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    arrived_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Result<T>> outcome_;
};

}  // namespace sluice::client
