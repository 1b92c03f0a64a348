// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/u128.hpp"

namespace sluice {

// Randomness, injected.
class Random {
 public:
  virtual ~Random() = default;
  [[nodiscard]] virtual std::uint64_t next() = 0;
  [[nodiscard]] U128 next_u128() {
    const std::uint64_t low = next();
    return U128{low, next()};
  }
};

// The kernel's generator: for ids that must differ between processes and machines. [any thread]
[[nodiscard]] Random& system_random();

// SplitMix64: the same seed gives the same sequence on every platform. For tests and simulations; not thread-safe.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t next() override;
  // Uniform enough for tests in [0, bound); bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace sluice
