// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <sluice/retry.hpp>

namespace sluice {

// What follows a failed attempt: a wait and the next one, or the end. State machine without clock, sleep or randomness of its own. One
// owner.
class RetryProgress {
 public:
  // No wait begins that would not end before `deadline_ns` of the clock that failed() is told; UINT64_MAX: no deadline.
  RetryProgress(const RetryPolicy& policy, std::uint64_t deadline_ns) : policy_(policy), deadline_ns_(deadline_ns) {}

  // The attempt that failed just now. `may_pass`: another one may succeed. The wait before the next attempt; nothing: there is none.
  [[nodiscard]] std::optional<Duration> failed(bool may_pass, Duration retry_after, std::uint64_t now_ns, std::uint64_t random_bits);

  [[nodiscard]] std::uint32_t attempts() const { return attempts_; }  // that failed
  // It ended because attempts or time ran out, although another attempt might have succeeded.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

 private:
  RetryPolicy policy_;
  std::uint64_t deadline_ns_;
  std::uint32_t attempts_ = 0;
  bool exhausted_ = false;
};

}  // namespace sluice
