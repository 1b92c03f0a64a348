// SPDX-License-Identifier: Apache-2.0
#include "core/node/retention.hpp"

#include <algorithm>

#include "core/base/mutation.hpp"

namespace sluice::node {
namespace {

std::int64_t microseconds_of(std::chrono::milliseconds age) {
  return std::chrono::duration_cast<std::chrono::microseconds>(age).count();
}

// How long until something that ends at `newest` has reached the age; 0 if it has. Timestamps of a log may be anything.
std::chrono::microseconds until_expired(std::chrono::milliseconds age, TimestampUs newest, TimestampUs now) {
  const TimestampUs cutoff = now - microseconds_of(age);
  return std::chrono::microseconds(std::clamp(newest, cutoff, now) - cutoff);
}

}  // namespace

RetentionVerdict judge_retention(const metadata::RetentionOptions& options, const Retained& partition, TimestampUs now) {
  RetentionVerdict verdict{.floor = partition.floor};
  std::uint64_t remaining = partition.size_bytes;
  const auto exceeds = [&](const std::optional<std::uint64_t>& limit) { return limit && remaining > *limit; };
  const auto expired = [&](TimestampUs newest) {
    return options.age && (until_expired(*options.age, newest, now).count() == 0 || SLUICE_MUTATED(kExpiredEarly));
  };
  const auto is_read = [&](Offset end) {
    return !options.wait_for_consumers || end <= partition.unread || SLUICE_MUTATED(kRetentionOvertakes);
  };

  TimestampUs oldest_end = partition.last_timestamp;  // of the first segment that stays
  bool active_too = true;
  for (const log::EntryLog::SegmentInfo& segment : partition.whole) {
    const bool is_trimmed = segment.next_offset <= partition.floor;
    const bool goes = (exceeds(options.bytes) || expired(segment.last_timestamp)) && is_read(segment.next_offset);
    if (!is_trimmed && !goes && (!exceeds(options.hard_bytes) || SLUICE_MUTATED(kHardBytesWait))) {
      oldest_end = segment.last_timestamp;
      active_too = false;
      break;
    }
    verdict.floor = std::max(verdict.floor, segment.next_offset);
    remaining -= std::min(remaining, segment.bytes);
  }
  if (active_too && partition.next > verdict.floor && expired(partition.last_timestamp) && is_read(partition.next)) {
    verdict.floor = partition.next;
    verdict.roll = !SLUICE_MUTATED(kQuietNeverRolled);
  }
  if (options.age && partition.next > verdict.floor) {
    verdict.look_again = until_expired(*options.age, oldest_end, now);
    // What is expired and stays waits for a consumer, who will be heard.
    if (verdict.look_again->count() == 0) verdict.look_again = kRetentionLookMax;
    verdict.look_again = std::clamp(*verdict.look_again, kRetentionLookMin, kRetentionLookMax);
  }
  return verdict;
}

bool roll_is_due(const metadata::RetentionOptions& options, TimestampUs since, TimestampUs now) {
  return options.age && since <= now - microseconds_of(*options.age) / kSegmentsPerAge && !SLUICE_MUTATED(kOldSegmentGoesOn);
}

}  // namespace sluice::node
