// SPDX-License-Identifier: Apache-2.0
#include "core/log/prewriter.hpp"

#include <algorithm>
#include <utility>

#include "core/base/mutation.hpp"

namespace sluice::log {

bool PrewriteBudget::take(std::uint64_t bytes) {
  std::uint64_t left = left_.load(std::memory_order_relaxed);
  while (left >= bytes || SLUICE_MUTATED(kZerosUnbounded)) {
    if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
  }
  return false;
}

void Prewriter::count(std::uint64_t bytes, Clock::Monotonic now) {
  constexpr std::chrono::seconds kSecond{1};
  if (now - second_began_ >= kSecond) {
    last_second_bytes_ = now - second_began_ < 2 * kSecond ? second_bytes_ : 0;
    second_bytes_ = 0;
    second_began_ = now;
  }
  second_bytes_ += bytes;
}

// What entries have filled since is nobody's zeros any more.
void Prewriter::hold(std::uint64_t bytes) {
  if (held_ <= bytes) return;
  budget_->give_back(held_ - bytes);
  held_ = bytes;
}

std::optional<Prewriter::Step> Prewriter::next(std::uint64_t end, std::uint64_t bytes, Clock::Monotonic now) {
  if (!budget_) return std::nullopt;
  count(bytes, now);
  if (now - std::exchange(flushed_at_, now) < kPrewriteIdle) rested_ = false;
  const std::uint64_t ahead = end_ - std::min(end, end_);
  hold(ahead);
  if (step_ || stopped_ || rested_ || bytes >= kPrewriteStepBytes) return std::nullopt;
  const std::uint64_t wanted = std::clamp(std::max(second_bytes_, last_second_bytes_), kPrewriteStepBytes, kPrewriteAheadMax);
  // Whole steps where there are several, and never so few bytes that every flush had to make the file grow.
  if (ahead > std::max(wanted - kPrewriteStepBytes, wanted / 2)) return std::nullopt;
  const std::uint64_t begin = std::max(end_, (end + kPrewriteAlignment - 1) / kPrewriteAlignment * kPrewriteAlignment);
  const std::uint64_t limit = std::min(begin + kPrewriteStepBytes, segment_bytes_);
  if (begin >= limit || !budget_->take(limit - begin)) return std::nullopt;
  held_ += limit - begin;
  end_ = limit;
  step_ = Step{begin, limit};
  return step_;
}

void Prewriter::rest() {
  hold(0);
  end_ = 0;
  rested_ = true;
}

void Prewriter::cut() {
  rest();
  rested_ = stopped_ = false;
}

}  // namespace sluice::log
