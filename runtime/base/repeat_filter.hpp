// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::logging {

// Decides which of equal lines are written: the first of each window, and afterwards how many were held back. Pure; the owner gives the
// time and locks. Remembers at most kDistinctMax lines; beyond that the oldest is released early, so memory stays flat.
class RepeatFilter {
 public:
  static constexpr std::size_t kDistinctMax = 256;

  struct Summary {
    std::string line;
    std::uint64_t count = 0;  // times it was held back
  };

  explicit RepeatFilter(std::chrono::nanoseconds window) : window_(window) {}

  // True if the line is to be written now.
  [[nodiscard]] bool admit(std::string_view line, std::chrono::nanoseconds now);
  // Lines whose window is over and that were held back at least once. They start a new window when they come again.
  [[nodiscard]] std::vector<Summary> expired(std::chrono::nanoseconds now);
  // Everything held back, whatever its window.
  [[nodiscard]] std::vector<Summary> drain();

 private:
  struct Entry {
    std::chrono::nanoseconds since{0};
    std::uint64_t held_back = 0;
  };
  std::chrono::nanoseconds window_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<Summary> released_;  // pushed out by kDistinctMax
};

}  // namespace sluice::logging
