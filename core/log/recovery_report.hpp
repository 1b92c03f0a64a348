// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/ids.hpp"

namespace sluice::log {

inline constexpr std::chrono::microseconds kClockBehindMax = std::chrono::seconds{10};

// What recovery found and did. Logged by the owner; counted in the metrics.
struct RecoveryReport {
  std::uint64_t segments = 0;
  std::uint64_t segments_by_seal = 0;  // of these: complete ones whose seal was believed
  std::uint64_t entries = 0;           // verified
  std::uint64_t bytes_verified = 0;
  std::uint64_t indexes_rebuilt = 0;
  std::uint64_t index_entries_added = 0;  // to indexes that matched but ended early
  bool created = false;                   // there was no log here

  struct Cut {
    std::string segment;
    std::uint64_t position = 0;  // first byte that was cut
    std::uint64_t bytes = 0;
    std::string set_aside;  // file with the bytes
    std::string reason;
  };
  std::optional<Cut> cut;
  // A truncation that was decided had not removed it yet.
  std::optional<std::string> truncated_segment;

  // The log was closed, or nothing was ever acknowledged: nothing is in doubt.
  bool clean = false;
  // The witness is here: only the process had died.
  bool trusted = false;
  // A slot of the frontier did not verify. It may have been the newest: the limit counts as that much higher, and the slot is written anew.
  bool slot_lost = false;
  // Entries up to here may have been acknowledged, also such that are gone. The head if clean or trusted.
  Op doubtful_to;
  // The same for offsets; see EntryLog::mint_from().
  std::optional<Offset> mint_from;
  // A write or sync had failed when the log was last open: what was said then.
  std::optional<std::string> fence_mark;
  // The clock is that much behind the newest entry, more than kClockBehindMax.
  std::optional<std::chrono::microseconds> clock_behind;
  // Written once more, because it was not known to be on the device.
  std::uint64_t bytes_rewritten = 0;
};

}  // namespace sluice::log
