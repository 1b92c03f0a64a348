// SPDX-License-Identifier: Apache-2.0
#include <sluice/retry_progress.hpp>

namespace sluice {

std::optional<Duration> RetryProgress::failed(bool may_pass, Duration retry_after, std::uint64_t now_ns, std::uint64_t random_bits) {
  ++attempts_;
  if (!may_pass) return std::nullopt;
  exhausted_ = attempts_ >= policy_.attempts();
  if (exhausted_) return std::nullopt;
  const Duration wait = policy_.wait(attempts_, random_bits, retry_after);
  const std::uint64_t left_ns = deadline_ns_ - (now_ns < deadline_ns_ ? now_ns : deadline_ns_);
  // In milliseconds, because the longest wait is longer than nanoseconds can say.
  exhausted_ = static_cast<std::uint64_t>(wait.count()) >= left_ns / 1'000'000;
  if (exhausted_) return std::nullopt;
  return wait;
}

}  // namespace sluice
