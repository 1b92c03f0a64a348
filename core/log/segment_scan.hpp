// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/log/index.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

inline constexpr std::uint64_t kScanWindowBytes = 64u << 10;  // what a scan that looks for its first entry reads at a time

// The open log file and the index of a segment that is complete. Immutable, shared with the jobs that read it.
struct SegmentFiles {
  storage::FilePtr log;
  Index index;
};
// An index that cannot be used is no error: the scan then starts at the first entry.
[[nodiscard]] Result<std::shared_ptr<const SegmentFiles>> open_segment_files(storage::Storage& storage, const std::string& directory,
                                                                             Op first_op);

// Log first, so that no crash leaves an index alone that is believed; then the directory. What is gone already is no error.
[[nodiscard]] Result<void> remove_segment_files(storage::Storage& storage, const std::string& directory, Op first_op);

// What to collect from one segment. Either by op (every kind) or by offset (messages and gaps).
struct ScanRequest {
  std::optional<Op> from_op;
  Offset from_offset;
  Op up_to;
  std::uint64_t bytes_max = 0;  // at least one entry
};
struct ScanResult {
  std::vector<entry::SharedEntry> entries;
  std::uint64_t position = 0;  // after the last entry that was looked at
};
// Where the scan may begin and must end.
struct ScanRange {
  std::uint64_t position = 0;
  std::uint64_t end = 0;
  std::optional<IndexEntry> indexed;  // what the index says is at `position`: held against the entry there
  std::optional<IndexEntry> before;   // the index entry before that one: the next place to try
};
// Where the index says to begin: at `found`, or at the segment's first entry. A scan that does not find there what the index says goes back
// to the index entry before it, then to the segment's first entry: the index is derived and may be wrong when the segment is not.
[[nodiscard]] ScanRange range_from(const Index& index, const std::optional<IndexEntry>& found, std::uint64_t end);

// Reads with large sized reads into one buffer that the entries share, and verifies what it returns. Damage after the first returned entry
// ends the result; damage before it is log.damaged_entry with segment and position. [blocking, any thread]
[[nodiscard]] Result<ScanResult> scan_segment(storage::File& file, const ScanRange& range, const ScanRequest& request);

// The base offset of the first kMessages entry with base timestamp ≥ `at` and op ≤ up_to in the range; else none. [blocking, any thread]
[[nodiscard]] Result<std::optional<Offset>> scan_for_time(storage::File& file, const ScanRange& range, TimestampUs at, Op up_to);

}  // namespace sluice::log
