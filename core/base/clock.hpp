// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "core/base/ids.hpp"

namespace sluice {

// Time, injected. Monotonic time is for waits and deadlines, wall time for timestamps that people see. [any thread]
class Clock {
 public:
  using Monotonic = std::chrono::nanoseconds;  // since an arbitrary start, never goes back

  virtual ~Clock() = default;
  [[nodiscard]] virtual Monotonic monotonic() const = 0;
  [[nodiscard]] virtual TimestampUs wall() const = 0;
};

// The operating system's clocks.
[[nodiscard]] Clock& system_clock();

// A clock that moves only when told. For tests; not thread-safe.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] Monotonic monotonic() const override { return monotonic_; }
  [[nodiscard]] TimestampUs wall() const override { return wall_; }
  void advance(std::chrono::nanoseconds by) {
    monotonic_ += by;
    wall_ = wall_ + std::chrono::duration_cast<std::chrono::microseconds>(by).count();
  }
  // A step of the wall clock alone, as an administrator or NTP makes it.
  void set_wall(TimestampUs wall) { wall_ = wall; }

 private:
  Monotonic monotonic_{0};
  TimestampUs wall_{1'700'000'000'000'000};
};

}  // namespace sluice
