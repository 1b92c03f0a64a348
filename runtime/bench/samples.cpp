// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/samples.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::bench {

std::optional<Samples::Summary> Samples::summary() const {
  if (nanoseconds_.empty()) return std::nullopt;
  std::vector<Nanoseconds::rep> sorted = nanoseconds_;
  std::ranges::sort(sorted);
  const auto at = [&](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return static_cast<double>(sorted[std::max<std::size_t>(rank, 1) - 1]) / 1e3;
  };
  return Summary{.min_us = at(0), .p50_us = at(0.5), .p99_us = at(0.99), .p999_us = at(0.999), .max_us = at(1)};
}

}  // namespace sluice::bench
