// SPDX-License-Identifier: Apache-2.0
// What recovery has decided, before it changes anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/log/recovery.hpp"

namespace sluice::log {

// Where the walk over the last segment met something that is not the next entry.
struct TailDamage {
  std::uint64_t search_from = 0;  // a whole entry behind the damage begins here or later
  std::string what;
};

struct PlannedSegment {
  RecoveredSegment segment;  // `bytes` is the verified end
  std::string path;
  std::uint64_t file_bytes = 0;
  SegmentSlots slots;

  bool page_missing = false;  // the last segment was created, but its header page did not become whole: it is written anew
  std::optional<TailDamage> damage;
  bool rebuild_index = false;
  bool index_contradicts = false;
  std::vector<IndexEntry> missing_index_entries;  // of an index that matches but ends early; part of segment.index
  bool set_aside_tail = false;                    // the bytes after the verified end are not just zeros
  std::string tail_reason;
  std::optional<U128> id_at_checkpoint;
  std::optional<U128> id_at_witness;
  std::uint64_t bytes_after_checkpoint = 0;
};

struct RecoveryPlan {
  bool directory_missing = false;
  std::vector<PlannedSegment> segments;
  std::vector<std::string> stray_names;  // staging files and indexes without a log: removed
  std::optional<Op> truncated_segment;   // taken away by a truncation: removed, and the one before it is the last
  std::optional<Checkpoint> checkpoint;
  std::optional<Frontier> frontier;  // the newest, with a limit that covers a lost slot's; none if there is no segment yet
  RecoveryReport report;
};

// An earlier start's refusal, if one stands; then judge_files.
[[nodiscard]] Result<RecoveryPlan> judge(storage::Storage& storage, const LogOptions& options);
[[nodiscard]] Result<void> judge_marker(storage::Storage& storage, const LogOptions& options);
// BOUND and CHAIN: reads only.
[[nodiscard]] Result<RecoveryPlan> judge_files(storage::Storage& storage, const LogOptions& options);
// Whether a truncation has taken the last segment away.
[[nodiscard]] Result<bool> is_truncated_away(storage::Storage& storage, const LogOptions& options, Op before, Op last);
// The end of the log: what the frontier says about it, and what follows for the bytes that do not verify.
[[nodiscard]] Result<void> judge_tail(storage::Storage& storage, const LogOptions& options, RecoveryPlan& plan);
// Whether a start writes the header page of the last segment and what lies behind durable once more: they are not known to be on the
// device.
[[nodiscard]] bool is_unproven(const PlannedSegment& active, const RecoveryReport& report);
// Writes `refused` into the directory, if the refusal is one that lasts and is not there yet.
[[nodiscard]] Result<void> record_refusal(storage::Storage& storage, const LogOptions& options, const Error& refusal);
// COMMIT.
[[nodiscard]] Result<RecoveredLog> commit_plan(storage::Storage& storage, const LogOptions& options, RecoveryPlan plan);

}  // namespace sluice::log
