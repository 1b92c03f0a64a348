// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/log/entry_log.hpp"
#include "core/log/frontier.hpp"
#include "core/log/index.hpp"
#include "core/log/recovery_report.hpp"
#include "core/log/segment_page.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

inline constexpr const char* kRefusedName = "refused";
inline constexpr const char* kFencedName = "fenced";

// One segment as recovery left it.
struct RecoveredSegment {
  SegmentPage page;
  LogHead end;              // the head after its last entry; head_before(page) if it has none
  std::uint64_t bytes = 0;  // verified end = file size
  Index index;              // empty if the seal was believed: whoever reads by it loads it
  bool by_seal = false;     // the seal was believed: its entries were not looked at

  [[nodiscard]] bool has_entries() const { return end.op >= page.first_op; }
};

struct RecoveredLog {
  std::vector<RecoveredSegment> segments;  // at least one; the last is active
  storage::FilePtr active_log;
  storage::FilePtr active_index;
  storage::FilePtr unsealed_log;  // of the segment before the active one, if that stays open for a truncation
  std::size_t unsealed_slot = 0;  // where its newest slot is
  std::uint64_t bytes_after_checkpoint = 0;
  Frontier frontier;  // the newest, in the active segment
  std::size_t frontier_slot = 0;
  std::optional<Checkpoint> checkpoint;
  RecoveryReport report;

  [[nodiscard]] const LogHead& head() const { return segments.back().end; }
};

// Judges the directory and then brings it into the state that a running log needs. Errors as EntryLog::open. [blocking]
[[nodiscard]] Result<RecoveredLog> recover(storage::Storage& storage, const LogOptions& options);
// About how many bytes that will read: of the segments that it walks. What cannot be looked at counts nothing. [blocking]
[[nodiscard]] std::uint64_t bytes_to_judge(storage::Storage& storage, const LogOptions& options);

}  // namespace sluice::log
