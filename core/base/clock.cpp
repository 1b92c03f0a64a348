// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.hpp"

namespace sluice {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Monotonic monotonic() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
  [[nodiscard]] TimestampUs wall() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return TimestampUs{std::chrono::duration_cast<std::chrono::microseconds>(now).count()};
  }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

}  // namespace sluice
