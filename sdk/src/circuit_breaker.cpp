// SPDX-License-Identifier: Apache-2.0
#include <sluice/circuit_breaker.hpp>

namespace sluice {

std::optional<CircuitBreaker::Pass> CircuitBreaker::try_pass(std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (open_) {
    if (is_cooling(now_ns) || trying_) return std::nullopt;
    trying_ = true;
    ++generation_;
  }
  return Pass{generation_};
}

void CircuitBreaker::succeeded(Pass pass) {
  const std::lock_guard lock(mutex_);
  if (pass.generation != generation_) return;
  failures_ = 0;
  if (open_) ++generation_;
  open_ = trying_ = false;
}

void CircuitBreaker::failed(Pass pass, std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (pass.generation != generation_) return;
  if (!open_ && ++failures_ < policy_.threshold) return;
  ++generation_;
  open_ = true;
  trying_ = false;
  cools_until_ns_ = time_after_ns(now_ns, policy_.cool_down);
}

void CircuitBreaker::abandoned(Pass pass) {
  const std::lock_guard lock(mutex_);
  if (pass.generation != generation_ || !trying_) return;
  ++generation_;
  trying_ = false;
}

CircuitBreaker::State CircuitBreaker::state(std::uint64_t now_ns) const {
  const std::lock_guard lock(mutex_);
  if (!open_) return State::kClosed;
  return is_cooling(now_ns) ? State::kOpen : State::kHalfOpen;
}

Duration CircuitBreaker::remaining_cool_down(std::uint64_t now_ns) const {
  const std::lock_guard lock(mutex_);
  if (!open_ || !is_cooling(now_ns)) return Duration{0};
  return Duration{static_cast<std::int64_t>((cools_until_ns_ - now_ns + 999'999) / 1'000'000)};
}

}  // namespace sluice
