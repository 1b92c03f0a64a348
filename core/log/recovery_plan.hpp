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

struct PlannedSegment {
  RecoveredSegment segment;  // `bytes` is the verified end
  std::string path;
  std::uint64_t file_bytes = 0;

  bool page_missing = false;  // the last segment was created, but its header page did not become whole: it is written anew
  bool rebuild_index = false;
  std::vector<IndexEntry> missing_index_entries;  // of an index that matches but ends early; part of segment.index
  bool set_aside_tail = false;                    // the bytes after the verified end are not just zeros
  std::string tail_reason;
  std::optional<U128> id_at_checkpoint;
  std::uint64_t bytes_after_checkpoint = 0;
};

struct RecoveryPlan {
  bool directory_missing = false;
  std::vector<PlannedSegment> segments;
  std::vector<std::string> stray_names;  // staging files and indexes without a log: removed
  std::optional<Checkpoint> checkpoint;
  RecoveryReport report;
};

// BOUND and CHAIN: reads only.
[[nodiscard]] Result<RecoveryPlan> judge(storage::Storage& storage, const LogOptions& options);
// COMMIT.
[[nodiscard]] Result<RecoveredLog> commit_plan(storage::Storage& storage, const LogOptions& options, RecoveryPlan plan);

}  // namespace sluice::log
