// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/repeat_filter.hpp"

#include <algorithm>
#include <utility>

namespace sluice::logging {

bool RepeatFilter::admit(std::string_view line, std::chrono::nanoseconds now) {
  if (const auto found = entries_.find(line); found != entries_.end()) {
    if (now - found->second.since < window_) {
      ++found->second.held_back;
      return false;
    }
    if (found->second.held_back > 0) released_.push_back({found->first, found->second.held_back});
    found->second = Entry{now, 0};
    return true;
  }
  if (entries_.size() >= kDistinctMax) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.since; });
    if (oldest->second.held_back > 0) released_.push_back({oldest->first, oldest->second.held_back});
    entries_.erase(oldest);
  }
  entries_.emplace(line, Entry{now, 0});
  return true;
}

std::vector<RepeatFilter::Summary> RepeatFilter::expired(std::chrono::nanoseconds now) {
  std::vector<Summary> out = std::exchange(released_, {});
  std::erase_if(entries_, [&](const auto& entry) {
    if (now - entry.second.since < window_) return false;
    if (entry.second.held_back > 0) out.push_back({entry.first, entry.second.held_back});
    return true;
  });
  return out;
}

std::vector<RepeatFilter::Summary> RepeatFilter::drain() {
  std::vector<Summary> out = std::exchange(released_, {});
  for (const auto& [line, entry] : entries_) {
    if (entry.held_back > 0) out.push_back({line, entry.held_back});
  }
  entries_.clear();
  return out;
}

}  // namespace sluice::logging
