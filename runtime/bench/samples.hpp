// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace sluice::bench {

// Raw latencies: every one is kept, so percentiles of several producers are those of the merged samples. One thread at a time.
class Samples {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  struct Summary {
    double min_us = 0;
    double p50_us = 0;
    double p99_us = 0;
    double p999_us = 0;
    double max_us = 0;
  };

  void reserve(std::size_t count) { nanoseconds_.reserve(count); }
  void add(Nanoseconds latency) { nanoseconds_.push_back(latency.count()); }
  void merge(const Samples& other) { nanoseconds_.insert(nanoseconds_.end(), other.nanoseconds_.begin(), other.nanoseconds_.end()); }
  [[nodiscard]] std::size_t count() const { return nanoseconds_.size(); }
  // All of it or, without samples, nothing. A percentile is the smallest sample that at least that share does not exceed.
  [[nodiscard]] std::optional<Summary> summary() const;

 private:
  std::vector<Nanoseconds::rep> nanoseconds_;
};

}  // namespace sluice::bench
