// SPDX-License-Identifier: Apache-2.0
#include "core/base/random.hpp"

#include <sys/random.h>

#include "core/base/assert.hpp"

namespace sluice {
namespace {

class SystemRandom final : public Random {
 public:
  [[nodiscard]] std::uint64_t next() override {
    std::uint64_t value = 0;
    // For up to 256 bytes the kernel either fills the buffer or, before its pool is ready, waits.
    const ssize_t got = ::getrandom(&value, sizeof value, 0);
    SLUICE_ASSERT(got == sizeof value, "getrandom returned {}", got);
    return value;
  }
};

}  // namespace

Random& system_random() {
  static SystemRandom random;
  return random;
}

std::uint64_t SeededRandom::next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace sluice
