// SPDX-License-Identifier: Apache-2.0
#include <sluice/retry_progress.hpp>

namespace sluice {

std::optional<Duration> RetryProgress::failed(bool may_pass, Duration retry_after, std::uint64_t now_ns, std::uint64_t random_bits) {
  ++attempts_;
  if (!may_pass) return std::nullopt;
  exhausted_ = attempts_ >= policy_.attempts();
  if (exhausted_) return std::nullopt;
  const Duration wait = policy_.wait(attempts_, random_bits, retry_after);
  exhausted_ = time_after_ns(now_ns, wait) >= deadline_ns_;
  if (exhausted_) return std::nullopt;
  return wait;
}

}  // namespace sluice
