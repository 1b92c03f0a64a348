// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/clock.hpp"

namespace sluice::pipeline {

// A token bucket over records: at most `records_per_second` on average, bursts of at most a tenth of that (at least one record). Without a
// limit everything passes. Pure; worker thread.
class RateLimit {
 public:
  RateLimit(std::optional<std::uint64_t> records_per_second, Clock::Monotonic now);

  // How many records may go now.
  [[nodiscard]] std::uint64_t available(Clock::Monotonic now);
  void take(std::uint64_t records);
  // When at least one record may go; call after available() answered 0.
  [[nodiscard]] Clock::Monotonic next_at() const;

 private:
  std::optional<std::uint64_t> rate_;
  std::uint64_t burst_ = 1;
  double tokens_ = 1;
  Clock::Monotonic filled_at_;
};

}  // namespace sluice::pipeline
