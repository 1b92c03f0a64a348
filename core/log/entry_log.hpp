// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/log/checkpoint.hpp"
#include "core/log/errc.hpp"
#include "core/log/index.hpp"
#include "core/log/recovery_report.hpp"
#include "core/storage/io_queue.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

template <typename T>
using Completion = std::move_only_function<void(Result<T>)>;

inline constexpr std::uint64_t kFlushBytesMax = 4u << 20;    // one flush: this much, or one entry
inline constexpr std::uint64_t kHotBytesDefault = 4u << 20;  // newest entries kept in memory per log
inline constexpr std::uint64_t kSurvivorBudgetBytes = 256u << 20;
inline constexpr std::size_t kDropSegmentsMax = 16;  // per drop_before call

struct LogOptions {
  std::string directory;  // of this log alone; created if absent
  GroupId group;
  Incarnation incarnation;
  std::uint64_t segment_bytes = 1ULL << 30;  // a segment rolls before the entry that would cross it
  std::uint64_t index_stride_bytes = kIndexStrideBytes;
  std::uint64_t hot_bytes = kHotBytesDefault;
  std::uint64_t survivor_budget_bytes = kSurvivorBudgetBytes;
  bool must_exist = false;  // somebody knows that the log was made: with nothing there, it is refused and not made anew
};

// The newest entry. An empty log has op 0, and the root identity as its id.
struct LogHead {
  Op op;
  U128 id;
  Offset next_offset;
  TimestampUs last_timestamp;
};

// Where a sequential reader went on last time: spares the index lookup. A stale one is harmless.
struct ReadCursor {
  Op op;
  Offset offset;
  Op segment;  // first op of the segment
  std::uint64_t position = 0;
};

struct ReadRequest {
  Offset from;
  Op up_to;                            // the reader's commit: nothing beyond is returned
  std::uint64_t bytes_max = 1u << 20;  // at least one entry is returned even if larger
  std::optional<ReadCursor> cursor;
};

struct ReadResult {
  // Verified kMessages and kGap entries in order; the first may begin before `from`. Empty only if nothing is there yet.
  std::vector<entry::SharedEntry> entries;
  ReadCursor cursor;  // for the next read, which starts at cursor.offset
};

class EntryLog;

struct OpenedLog {
  std::unique_ptr<EntryLog> log;
  std::optional<Checkpoint> checkpoint;
  RecoveryReport report;
};

// The ordered entries of one group, in segment files of one directory, which this object owns exclusively.
// Guarantees: entries are stored as given, in order, without holes. An entry with must_sync is reported durable after a sync that covers
// it, the others once their bytes are in the operating system's page cache. Log and index advance together. After any failed write or sync
// the log is fenced: every waiter and every later append gets the error, nothing more is written. Threads: open() and replay() block and
// belong on a worker; afterwards everything runs on the owning shard's thread, and completions come there, either inside the call or later.
// Destroying it drops work in flight: its waiters get log.stopped. Call close() first.
class EntryLog {
 public:
  // Judges the directory (docs/reference/log-format.md, "Recovery"), and only then changes it. An absent or empty directory becomes an
  // empty log, unless it must exist. Errors: refusals (is_refusal), which are recorded in the directory and stand until an operator removes
  // them; I/O errors, which are not. `storage` and `queue` must outlive the log.
  [[nodiscard]] static Result<OpenedLog> open(storage::Storage& storage, storage::IoQueue& queue, LogOptions options);
  ~EntryLog();
  EntryLog(const EntryLog&) = delete;
  EntryLog& operator=(const EntryLog&) = delete;

  // Calls `visit` for each entry from `from` to the head, in order; stops at its first error. For boot. [blocking]
  [[nodiscard]] Result<void> replay(Op from, const std::function<Result<void>(const entry::EntryView&)>& visit);

  [[nodiscard]] LogHead head() const;              // including entries that are not durable yet
  [[nodiscard]] Op acknowledged_op() const;        // everything up to here was reported to its waiters
  [[nodiscard]] Op first_op() const;               // of the oldest retained entry; head().op + 1 if there is none
  [[nodiscard]] Offset first_offset() const;       // the smallest offset that may be read
  [[nodiscard]] Op checkpoint_op() const;          // 0 = none
  [[nodiscard]] std::uint64_t size_bytes() const;  // of the log files
  [[nodiscard]] std::uint64_t unsynced_bytes() const;
  [[nodiscard]] std::uint64_t bytes_since_checkpoint() const;
  [[nodiscard]] std::optional<Error> fenced() const;
  [[nodiscard]] const LogOptions& options() const;

  // The stamp of the next entry: op, parent, offsets, roll flag, and the timestamp max(now, last + 1). The caller adds view and commit.
  [[nodiscard]] entry::EntryStamp next_stamp(const entry::EntryDraft& draft, TimestampUs now, bool must_sync) const;

  // Queues the entry; it is readable by op at once. `on_durable` gets the outcome. Errors: log.out_of_sequence, log.fenced,
  // log.storage_full, log.stopped.
  void append(entry::SharedEntry entry, Completion<void> on_durable);
  void append(std::vector<entry::SharedEntry> entries, Completion<void> on_durable);

  // Makes everything appended so far durable: the owner calls it every flush_interval where must_sync is off.
  void sync(Completion<void> done);

  void read(const ReadRequest& request, Completion<ReadResult> done);
  // Entries of every kind from `from` up to `up_to`. Errors: log.out_of_range, log.damaged_entry.
  void read_ops(Op from, Op up_to, std::uint64_t bytes_max, Completion<std::vector<entry::SharedEntry>> done);
  // Base offset of the first message batch with base timestamp ≥ `at` among ops ≤ up_to; the next offset if there is none.
  void offset_for_time(TimestampUs at, Op up_to, Completion<Offset> done);

  // Syncs the log, then replaces the checkpoint. `op` must be acknowledged and not older than the last checkpoint. One at a time.
  void write_checkpoint(Op op, ByteVector body, Completion<void> done);

  // Size and end of each whole segment, oldest first, without the active one: what retention decides on.
  struct SegmentInfo {
    Op first_op;
    Op last_op;
    Offset next_offset;
    TimestampUs last_timestamp;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::vector<SegmentInfo> sealed_segments() const;
  // Removes whole leading segments with next_offset ≤ `trim_floor` and last_op ≤ checkpoint_op(), at most kDropSegmentsMax.
  // Reads no longer see them at once. `done` gets how many went.
  void drop_before(Offset trim_floor, Completion<std::size_t> done);

  // Syncs and finishes what is queued; then every call fails with log.stopped.
  void close(Completion<void> done);

 private:
  class Impl;
  explicit EntryLog(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace sluice::log
