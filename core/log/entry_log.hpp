// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/log/checkpoint.hpp"
#include "core/log/errc.hpp"
#include "core/log/index.hpp"
#include "core/log/log_head.hpp"
#include "core/log/prewriter.hpp"
#include "core/log/recovery_report.hpp"
#include "core/log/scrub.hpp"
#include "core/log/unsynced_budget.hpp"
#include "core/storage/io_queue.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

template <typename T>
using Completion = std::move_only_function<void(Result<T>)>;

inline constexpr std::uint64_t kFlushBytesMax = 4u << 20;    // one flush: this much, or one entry
inline constexpr std::uint64_t kHotBytesDefault = 4u << 20;  // newest entries kept in memory per log
inline constexpr std::uint64_t kSurvivorBudgetBytes = 256u << 20;
inline constexpr std::chrono::seconds kFullRetryInterval{1};
inline constexpr std::chrono::microseconds kLingerMax{60};
inline constexpr std::uint64_t kWritebackBytes = 4u << 20;  // written without a sync: the write-back of so much begins at once
inline constexpr std::size_t kDropSegmentsMax = 16;         // per drop_before call

// The newest acknowledged entry of a group, from a place that survives the process but not the operating system.
struct Witness {
  Op op;
  U128 id;
  Op commit;
};

struct LogOptions {
  std::string directory;  // of this log alone; created if absent
  GroupId group;
  Incarnation incarnation;
  std::uint64_t segment_bytes = 1ULL << 30;  // a segment rolls before the entry that would cross it
  std::uint64_t index_stride_bytes = kIndexStrideBytes;
  std::uint64_t hot_bytes = kHotBytesDefault;
  std::uint64_t survivor_budget_bytes = kSurvivorBudgetBytes;
  // With it and with a clock, zeros are written ahead of entries with must_sync. Shared by the logs of a node.
  std::shared_ptr<PrewriteBudget> prewrite;
  // With it, an entry without must_sync waits while too much is written and not synced. Shared by the logs of a shard.
  std::shared_ptr<UnsyncedBudget> unsynced;
  // Each flush and each sync covers the index too. Without, it goes to the page cache and is synced when its segment is complete.
  bool index_sync = false;
  // With it and with a timer, a flush waits a little for those whom the one before it has released. Outlives the log.
  const Clock* clock = nullptr;
  // Runs the task on the owner's thread after the delay. Without it, a full disk is tried again only by calls.
  std::function<void(std::chrono::nanoseconds, std::move_only_function<void()>)> after;
  // Runs the task on the owner's thread, after what is waiting there already and never inside the call. With it, the entries without
  // must_sync that are appended in one turn of the owner's loop are written together.
  std::function<void(std::move_only_function<void()>)> defer;
  // Asked before the timer tries a full disk again; false: not yet, what room there is has another purpose.
  std::function<bool()> may_retry;
  // Told, on the owner's thread, when a full disk closes admission: once each time.
  std::function<void(const Error&)> on_full;
  bool verify_sealed = true;  // walk complete segments too at the start; else their seals are believed, and a scrub walks them later
  // Counts the bytes of segments that the start is done with, while it goes; outlives open().
  std::atomic<std::uint64_t>* judged_bytes = nullptr;
  std::optional<Witness> witness;  // none: after an unclean stop it is not known whether the operating system lived on
  // The owner says by commit() what is committed: only that is sealed, and truncate() leaves it alone. Else whatever is acknowledged is.
  bool replicated = false;
  bool must_exist = false;  // somebody knows that the log was made: with nothing there, it is refused and not made anew
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
// it, the others once their bytes are in the operating system's page cache. No offset is acknowledged before a limit above it is durable,
// and after a stop that may have lost some, none below that limit is given out again. Log and index advance together. A full disk closes
// admission until it has room: what is queued waits and is written then, to the same places. After any other failed write, and after any
// failed sync, the log is fenced: every waiter and every later append gets the error, nothing more is written. Threads: open() and replay()
// block and belong on a worker; afterwards everything runs on the owning shard's thread, and completions come there, either inside the call
// or later. Destroying it drops work in flight: its waiters get log.stopped. Call close() first.
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

  [[nodiscard]] LogHead head() const;                  // including entries that are not durable yet
  [[nodiscard]] Op acknowledged_op() const;            // everything up to here was reported to its waiters
  [[nodiscard]] LogHead acknowledged() const;          // that entry
  [[nodiscard]] Op first_op() const;                   // of the oldest retained entry; head().op + 1 if there is none
  [[nodiscard]] Offset first_offset() const;           // the smallest offset that may be read
  [[nodiscard]] Op checkpoint_op() const;              // 0 = none
  [[nodiscard]] std::uint64_t size_bytes() const;      // of the log files
  [[nodiscard]] std::uint64_t unsynced_bytes() const;  // written and not synced
  [[nodiscard]] std::uint64_t bytes_since_checkpoint() const;
  [[nodiscard]] std::optional<Error> fenced() const;
  // Offsets below it may have been acknowledged before an unclean stop: the owner first appends EntryDraft::gap of it, and no other entry
  // is taken before. None if there are no such offsets, or once the gap is appended.
  [[nodiscard]] std::optional<Offset> mint_from() const;
  // The disk is full: log.storage_full until what waits could be written. It is tried again every kFullRetryInterval; without a timer,
  // by this call and by append.
  [[nodiscard]] std::optional<Error> storage_full();
  [[nodiscard]] const LogOptions& options() const;

  // The stamp of the next entry: op, parent, offsets, roll flag, and the timestamp max(now, last + 1). The caller adds view and commit.
  [[nodiscard]] entry::EntryStamp next_stamp(const entry::EntryDraft& draft, TimestampUs now, bool must_sync) const;

  // Queues the entry; it is readable by op at once. `on_durable` gets the outcome. Errors: log.out_of_sequence, log.fenced, log.stopped,
  // log.truncated; log.storage_full: it was not taken.
  void append(entry::SharedEntry entry, Completion<void> on_durable);
  void append(std::vector<entry::SharedEntry> entries, Completion<void> on_durable);

  // The group has committed up to here; it never goes back, and may be ahead of what this log holds. Of a replicated log only.
  void commit(Op op);
  // Counts the truncations of this log, also over restarts. An op that was appended before one and the op of the same number after it are
  // two: who sends an answer about one later names (op, id, epoch) and drops it if the epoch has moved.
  [[nodiscard]] std::uint64_t epoch() const;
  // A view change has decided that the entry (op, id) is followed by nothing that is here. Waits for what is under way; then whoever waits
  // for an entry above it gets log.truncated, no read sees more, and when `done` is answered the files end there, durably. Until then
  // appends get log.out_of_sequence; ops and offsets above it are given out again afterwards, and the owner has to store a new witness. In
  // no moment of it does a crash bring back a part of what was cut behind something new. Of a replicated log only. Errors, which change
  // nothing: log.committed, log.unknown_entry, log.out_of_sequence (one at a time). One that fails half-way fences the log.
  void truncate(Op op, U128 id, Completion<void> done);

  // Makes everything appended so far durable: the owner calls it every flush_interval where must_sync is off. Of what a truncation takes
  // away meanwhile nothing is left to do, so that is no error.
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
    bool sealed = false;   // nothing is written to it any more
    bool by_seal = false;  // the start has believed its seal
  };
  [[nodiscard]] std::vector<SegmentInfo> sealed_segments() const;
  // Base timestamp of the first entry of the active segment; none if it has none.
  [[nodiscard]] std::optional<TimestampUs> active_since() const;
  // Removes whole leading segments with next_offset ≤ `trim_floor` and last_op ≤ checkpoint_op(), at most kDropSegmentsMax.
  // Reads no longer see them at once. `done` gets how many went.
  void drop_before(Offset trim_floor, Completion<std::size_t> done);

  // Looks at the next `bytes_max` bytes of a sealed segment, or at one entry. One that was removed meanwhile is at its end, without damage.
  // Damage changes nothing here: what does not lie in it is read as before. Errors: log.fenced, log.stopped; base.no_space: later again.
  void scrub(const ScrubPlace& from, std::uint64_t bytes_max, Completion<ScrubStep> done);

  // From now on a full disk ends the log: what waits for room is tried once more, then everything acknowledged is synced, and what is left
  // gets log.storage_full, as every call after it. The log is not marked as fenced: nothing that was acknowledged is lost.
  void stop_waiting_for_room();
  // Writes and syncs what is queued, and says so in the frontier; waits for no room. Appends, syncs, checkpoints and drops fail with
  // log.stopped from now on; reads go on until the log is destroyed.
  void close(Completion<void> done);

 private:
  class Impl;
  explicit EntryLog(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace sluice::log
