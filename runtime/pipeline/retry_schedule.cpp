// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/retry_schedule.hpp"

#include <algorithm>
#include <limits>

namespace sluice::pipeline {

void RetrySchedule::failed(Instant now, std::uint64_t random_bits, std::optional<Duration> retry_after) {
  if (attempts_ < std::numeric_limits<std::uint32_t>::max()) ++attempts_;
  due_at_ = now + policy_.wait(attempts_, random_bits, retry_after);
}

RecordRetry::Verdict RecordRetry::failed(Instant now, const RetryPolicy& delays, const config::TransientPolicy& limits,
                                         std::uint64_t random_bits, std::optional<Duration> retry_after) {
  if (attempts_ == 0) first_failed_at_ = now;
  if (attempts_ < std::numeric_limits<std::uint32_t>::max()) ++attempts_;
  if (limits.attempts_max && attempts_ >= *limits.attempts_max) return Verdict::kExhausted;
  due_at_ = now + delays.wait(attempts_, random_bits, retry_after);
  if (limits.duration_max) {
    const Instant end = first_failed_at_ + *limits.duration_max;
    if (now >= end) return Verdict::kExhausted;
    // The last attempt is made when the time is up, not skipped because its wait would pass it.
    due_at_ = std::min(due_at_, end);
  }
  return Verdict::kRetry;
}

}  // namespace sluice::pipeline
