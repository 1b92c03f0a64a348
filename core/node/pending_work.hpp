// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::node {

// What the callers of a partition have under way, from the call to its answer: a sum with a maximum. [any thread]
class PendingWork {
 public:
  PendingWork(std::uint64_t max, std::string_view unit) : max_(max), unit_(unit) {}

  // Takes `amount`, or answers node.busy for the partition of that name. One call always goes, however much it brings.
  [[nodiscard]] Result<void> begin(std::uint64_t amount, const std::string& partition);
  void end(std::uint64_t amount) { sum_.fetch_sub(amount, std::memory_order_relaxed); }

 private:
  const std::uint64_t max_;
  const std::string_view unit_;
  std::atomic<std::uint64_t> sum_{0};
};

}  // namespace sluice::node
