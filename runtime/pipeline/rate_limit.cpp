// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/rate_limit.hpp"

#include <algorithm>
#include <limits>

namespace sluice::pipeline {

RateLimit::RateLimit(std::optional<std::uint64_t> records_per_second, Clock::Monotonic now) : rate_(records_per_second), filled_at_(now) {
  if (rate_) {
    rate_ = std::max<std::uint64_t>(*rate_, 1);
    burst_ = std::max<std::uint64_t>(*rate_ / 10, 1);
  }
}

std::uint64_t RateLimit::available(Clock::Monotonic now) {
  if (!rate_) return std::numeric_limits<std::uint64_t>::max();
  const double seconds = std::chrono::duration<double>(now - filled_at_).count();
  filled_at_ = now;
  tokens_ = std::min(static_cast<double>(burst_), tokens_ + seconds * static_cast<double>(*rate_));
  return tokens_ < 1 ? 0 : static_cast<std::uint64_t>(tokens_);
}

void RateLimit::take(std::uint64_t records) {
  if (rate_) tokens_ -= static_cast<double>(records);
}

Clock::Monotonic RateLimit::next_at() const {
  if (!rate_ || tokens_ >= 1) return filled_at_;
  // Rounded up, so that a record may indeed go then.
  const double wait_s = (1 - tokens_) / static_cast<double>(*rate_);
  return filled_at_ + std::chrono::nanoseconds(static_cast<std::int64_t>(wait_s * 1e9) + 1000);
}

}  // namespace sluice::pipeline
