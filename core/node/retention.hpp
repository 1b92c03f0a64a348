// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/log/entry_log.hpp"
#include "core/metadata/topic.hpp"

namespace sluice::node {

// With retention by age a segment takes entries for this part of the age, so a record goes at the latest when it is a part older than that.
inline constexpr std::int64_t kSegmentsPerAge = 4;
inline constexpr std::chrono::microseconds kRetentionLookMin = std::chrono::seconds(1);
inline constexpr std::chrono::microseconds kRetentionLookMax = std::chrono::minutes(10);  // somebody may set the clock meanwhile

// A partition as retention sees it.
struct Retained {
  std::vector<log::EntryLog::SegmentInfo> whole{};  // segments without the active one, oldest first
  std::uint64_t size_bytes = 0;                     // of all of them and the active one
  TimestampUs last_timestamp{};                     // of the newest entry
  Offset floor{};                                   // everything below is trimmed
  Offset next{};
  Offset unread{};  // the first one that a consumer has not committed; `next` without consumers
};

struct RetentionVerdict {
  Offset floor{};                                         // to trim up to; that of Retained if nothing goes
  bool roll = false;                                      // the trim begins a segment, because the active one goes too
  std::optional<std::chrono::microseconds> look_again{};  // even if nothing happens meanwhile; never, if time takes nothing away
};

// What has to go now: whole leading segments. By size and by age, but not what a consumer has not read, if the topic waits for consumers;
// and beyond hard_bytes all the same. Pure.
[[nodiscard]] RetentionVerdict judge_retention(const metadata::RetentionOptions& options, const Retained& partition, TimestampUs now);

// Whether the next entry begins a segment because the active one, whose first entry is of `since`, has taken entries for long enough.
[[nodiscard]] bool roll_is_due(const metadata::RetentionOptions& options, TimestampUs since, TimestampUs now);

}  // namespace sluice::node
