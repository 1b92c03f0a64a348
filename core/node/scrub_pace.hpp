// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/clock.hpp"

namespace sluice::node {

inline constexpr std::uint64_t kScrubStepBytes = 1ULL << 20;     // of one step, or one entry
inline constexpr std::uint64_t kScrubRateMax = 16ULL << 30;      // bytes per second
inline constexpr std::uint64_t kScrubRateDefault = 16ULL << 20;  // 1 TiB in 18 hours
inline constexpr std::chrono::hours kScrubIntervalDefault{7 * 24};

// How fast a scrub goes: never faster than its rate, and on a device that is slow or busy for no more than half of the time. What was not
// used is not made up for.
class ScrubPace {
 public:
  using Instant = Clock::Monotonic;

  // 1 to kScrubRateMax bytes per second.
  explicit ScrubPace(std::uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  // When the next step may begin, after one that has looked at so many bytes.
  [[nodiscard]] Instant next_after(Instant began, Instant ended, std::uint64_t bytes) const;

 private:
  std::uint64_t bytes_per_second_;
};

}  // namespace sluice::node
