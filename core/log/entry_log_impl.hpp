// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/log/entry_log.hpp"
#include "core/log/frontier_writer.hpp"
#include "core/log/persist.hpp"
#include "core/log/recovery.hpp"
#include "core/log/segment_scan.hpp"

namespace sluice::log {

inline constexpr std::size_t kOpenSegmentsMax = 4;  // complete segments of one log that keep a descriptor and an index

// What EntryLog is made of. Completions of jobs hold it, so it outlives its EntryLog by at most the jobs in flight.
//
// One queue in front of the active segment. `busy_` is the job that owns the tail: a flush (write, then sync) or a roll; nothing else is
// written while it runs. `syncing_` is a sync alone, beside which entries without must_sync may still be written. There is never more
// than one sync of a file at a time: the kernel tells a failed write-back to one of them only. `sealing_` is the last write to the segment
// before the active one; the next roll waits for it, so at most two segments are not sealed. `prewriter_` writes zeros behind everything
// that is under way; who wants the place that they go to, or the file for himself, waits until they are there. `truncation_` waits for all
// of these and then owns the tail itself.
// Every sync is preceded by a slot of the frontier, which says what was durable before it and what may be acknowledged after it.
class EntryLog::Impl : public std::enable_shared_from_this<EntryLog::Impl> {
 public:
  Impl(storage::Storage& storage, storage::IoQueue& queue, LogOptions options, RecoveredLog recovered);

  // entry_log.cpp
  Result<void> replay(Op from, const std::function<Result<void>(const entry::EntryView&)>& visit);
  entry::EntryStamp next_stamp(const entry::EntryDraft& draft, TimestampUs now, bool must_sync) const;
  std::uint64_t size_bytes() const;
  std::vector<SegmentInfo> sealed_segments() const;
  void abandon();

  // entry_log_write.cpp
  void append(std::vector<entry::SharedEntry> entries, Completion<void> on_durable);
  void sync(Completion<void> done);
  std::optional<Error> storage_full();
  void stop_waiting_for_room();

  // entry_log_sync.cpp
  void close(Completion<void> done);

  // entry_log_truncate.cpp
  void commit(Op op);
  void truncate(Op op, U128 id, Completion<void> done);

  // entry_log_read.cpp
  void read(const ReadRequest& request, Completion<ReadResult> done);
  void read_ops(Op from, Op up_to, std::uint64_t bytes_max, Completion<std::vector<entry::SharedEntry>> done);
  void offset_for_time(TimestampUs at, Op up_to, Completion<Offset> done);

  // entry_log_keep.cpp
  void write_checkpoint(Op op, ByteVector body, Completion<void> done);
  void drop_before(Offset trim_floor, Completion<std::size_t> done);

  // entry_log_scrub.cpp
  void scrub(const ScrubPlace& from, std::uint64_t bytes_max, Completion<ScrubStep> done);

  struct Segment {
    SegmentPage page;
    LogHead end;                                // after the last entry that is written
    std::uint64_t bytes = 0;                    // written
    std::shared_ptr<const SegmentFiles> files;  // of a complete segment, if they are open
    std::uint64_t used = 0;                     // for closing the least recently used
    bool by_seal = false;                       // the start has not looked at its entries
  };

  storage::Storage& storage_;
  storage::IoQueue& queue_;
  LogOptions options_;

  std::deque<Segment> segments_;  // at least one; the last is active
  storage::FilePtr active_log_;
  storage::FilePtr active_index_file_;
  Index active_index_;
  std::uint64_t last_indexed_ = 0;  // position of the newest index entry; 0 = none in this segment

  LogHead head_;                  // the newest queued entry
  Op tail_first_op_;              // first op of the segment that holds the head, counting queued entries
  std::uint64_t tail_bytes_ = 0;  // size of that segment once everything queued is written
  Op written_op_;
  LogPoint synced_;  // in the active segment
  Op acknowledged_op_;
  UnsyncedBudget::Share unsynced_;
  std::uint64_t writeback_at_ = 0;  // what lies before it in the active segment is synced or on its way
  Op checkpoint_op_;
  std::uint64_t bytes_since_checkpoint_ = 0;

  FrontierWriter frontier_;
  Prewriter prewriter_;              // of the active segment
  std::uint64_t epoch_;              // in memory ahead of the frontier while a truncation runs
  Op committed_op_;                  // of a replicated log
  std::optional<Offset> mint_from_;  // until a gap up to there is appended

  std::optional<Error> fenced_;
  std::optional<Error> full_;  // the disk: what waits is not written until a retry succeeds
  bool retry_timer_ = false;   // set: it tries again by itself
  bool waits_for_room_ = true;
  bool stopped_ = false;
  bool abandoned_ = false;

 private:
  struct Waiter {
    Op op;
    Completion<void> done;
  };
  // Entries on their way to the files, and what the job needs to write them. Shared with the job.
  struct Chunk {
    std::vector<entry::SharedEntry> entries;
    std::vector<Bytes> parts;
    std::uint64_t position = 0;
    std::uint64_t bytes = 0;
    std::vector<IndexEntry> index_entries;
    ByteVector index_bytes;
    std::uint64_t index_position = 0;
    LogHead end;
    FrontierWriter::Slot slot;  // with must_sync
    bool must_sync = false;

    [[nodiscard]] std::uint64_t end_position() const { return position + bytes; }
    // Each half by itself; the caller advances its cursors only if both succeeded.
    [[nodiscard]] Persisted write_log(storage::File& log) const;
    [[nodiscard]] Persisted write_index(storage::File& index) const;
  };
  // A segment that is being begun.
  struct SegmentPair {
    SegmentPage page;
    FrontierWriter::Slot slot;
    storage::FilePtr log;
    storage::FilePtr index;
    bool completed_last = false;  // the segment before it is durable
    bool no_room = false;         // the outcome of a write before anything was synced
  };

  // A complete segment that is not sealed yet. A truncation may make it the active one again.
  struct Unsealed {
    storage::FilePtr log;
    Op segment;
    LogPoint end;
    std::size_t slot = 0;  // its newest one
    std::shared_ptr<const SegmentFiles> files;
  };

  struct Truncation {
    Op op;
    U128 id;
    Completion<void> done;
  };
  // What its job needs, and what it makes.
  struct TruncationJob;

  Result<void> check_sequence(const entry::EntryHeader& header) const;
  void admit(entry::SharedEntry entry);
  void pump();
  bool may_flush_chunk();
  std::shared_ptr<Chunk> take_chunk();
  void flush();
  void flush_to_cache();
  std::vector<PersistJob> jobs_of_flush() const;
  void on_flushed(const Chunk& chunk);
  void prewrite_beside(const Chunk& flushed);
  void watch_zeros();
  bool start_zeros_back();
  void start_writeback();
  void on_written(const Chunk& chunk);
  void on_write_failed(PersistFailure failure);
  void retry();
  void retry_later();
  void settle_retry();
  void give_up();
  void begin_linger(std::size_t group, std::size_t waiting);
  bool lingers() const;
  bool gathers();
  void release_waiters();
  void evict_hot();
  std::optional<Error> closed_error() const;

  LogPoint written() const { return {segments_.back().end, segments_.back().bytes}; }
  void sync_to(Op op, Completion<void> done);
  bool start_sync_if_wanted();
  void start_sync(const Limit& limit);
  bool sync_for_others();
  bool roll_is_due() const;
  void start_roll();
  static Result<void> complete_segment(storage::File& log, storage::File& index, std::optional<std::uint64_t> cut_at, SegmentPair& pair);
  std::optional<std::uint64_t> zeros_at() const;
  static Result<void> begin_segment(storage::Storage& storage, const std::string& directory, SegmentPair& pair, storage::OpenMode mode);
  void on_rolled(SegmentPair& pair);
  bool may_seal() const;
  void start_seal(Unsealed segment);
  bool start_close_if_wanted();
  void finish_close(Result<void> outcome);
  Result<void> check_truncation(Op op) const;
  std::size_t first_open() const;
  void start_truncation();
  void truncate_to(const LogHead& target, const LogPoint& durable);
  std::uint64_t forget_above(const LogHead& target);
  std::uint64_t cut_segments(const LogPoint& durable, TruncationJob& job);
  std::deque<Waiter> take_waiters_above(Op op);
  void lower_syncs_to(Op op);
  static Result<void> run_truncation(storage::Storage& storage, const std::string& directory, TruncationJob& job);
  void on_truncated(const TruncationJob& job, Result<void> outcome);
  void end_truncation(Result<void> outcome);
  void return_chunk();
  const entry::EntryHeader& hot_header(Op op) const;
  void fence(Error error);
  void mark_fence();
  void drop_waiters(const Error& error);

  struct DiskRead;
  std::size_t first_hot(const ScanRequest& request) const;
  std::vector<entry::SharedEntry> collect_hot(std::size_t at, const ScanRequest& request) const;
  std::size_t segment_of(const ScanRequest& request) const;
  void scan(const ScanRequest& request, const std::optional<ReadCursor>& cursor, Completion<DiskRead> done);
  void keep_files(Op first_op, const std::shared_ptr<const SegmentFiles>& files);
  Result<void> check_range(const ScanRequest& request) const;

  bool is_sealed(std::size_t at) const;
  const Segment* find_sealed(Op first_op) const;
  bool may_become_active(const Segment& segment) const;
  void store_checkpoint(Checkpoint checkpoint, std::uint64_t bytes_before, Completion<void> done);

  std::deque<entry::SharedEntry> queued_;  // not written yet; bounded by admission
  std::shared_ptr<Chunk> chunk_;           // taken from the queue, with its places, until both halves are written
  std::deque<entry::SharedEntry> hot_;     // the newest entries, contiguous up to the head
  std::uint64_t hot_bytes_ = 0;
  std::deque<Waiter> waiters_;
  std::deque<Waiter> sync_waiters_;
  Completion<void> close_done_;  // once everything appended is synced: what is left is the clean frontier
  // Producers that wait for their answer come back together, shortly after it: the flush that waits for them serves all of them, and the
  // one that does not serves half of them, for ever.
  std::size_t gather_ = 0;  // entries that the next flush waits for
  Clock::Monotonic flush_began_{};
  Clock::Monotonic flush_average_{};
  std::uint64_t flushes_ = 0;
  bool lingering_ = false;
  bool gathering_ = false;  // the end of the turn is awaited
  bool gathered_ = false;   // it has come: one write for everything that is queued
  bool zeros_watched_ = false;
  bool zeros_back_ = false;  // they are to be cut off: nobody fills them, or the disk has no room for them
  bool busy_ = false;
  bool syncing_ = false;
  bool sealing_ = false;
  bool retrying_ = false;             // what met the full disk is under way again
  bool sync_is_due_ = false;          // a sync met the full disk before it began
  std::optional<Unsealed> unsealed_;  // to be sealed, when what follows it is committed and the disk has room
  std::optional<Truncation> truncation_;
  bool beginning_ = false;  // a roll has failed half-way: the file that it made is its own
  bool pumping_ = false;
  bool checkpointing_ = false;
  bool dropping_ = false;
  std::deque<Op> to_remove_;  // segments that no read sees any more, oldest first
  std::uint64_t uses_ = 0;
};

}  // namespace sluice::log
