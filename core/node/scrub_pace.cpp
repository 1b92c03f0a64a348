// SPDX-License-Identifier: Apache-2.0
#include "core/node/scrub_pace.hpp"

#include <algorithm>

#include "core/base/mutation.hpp"

namespace sluice::node {

ScrubPace::Instant ScrubPace::next_after(Instant began, Instant ended, std::uint64_t bytes) const {
  constexpr std::uint64_t kNanoseconds = 1'000'000'000;
  const std::uint64_t whole = bytes / bytes_per_second_;
  const std::uint64_t rest = bytes % bytes_per_second_;
  // The rest is below the rate, and their product within 64 bits.
  const auto cost = std::chrono::nanoseconds(whole * kNanoseconds + rest * kNanoseconds / bytes_per_second_);
  const Instant by_rate = SLUICE_MUTATED(kScrubTooFast) ? ended : began + cost;
  const Instant by_device = SLUICE_MUTATED(kScrubHoldsDevice) ? ended : ended + (ended - began);
  return std::max(by_rate, by_device);
}

}  // namespace sluice::node
