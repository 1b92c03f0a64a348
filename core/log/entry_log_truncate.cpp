// SPDX-License-Identifier: Apache-2.0
// A view change takes back what was never committed. docs/reference/log-format.md, "Order of writes".
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/chain.hpp"
#include "core/log/entry_log_impl.hpp"

namespace sluice::log {

struct EntryLog::Impl::TruncationJob {
  storage::FilePtr log;  // of the segment that is or becomes the active one
  storage::FilePtr index;
  Op segment;
  FrontierWriter::Slot slot;
  std::uint64_t index_bytes = 0;
  bool sync_first = false;              // what stays may not be durable yet
  std::optional<Op> interrupted_roll;   // the segment that it had made
  std::optional<Op> truncated_segment;  // a later one, which goes altogether
};

void EntryLog::Impl::commit(Op op) {
  if (op <= committed_op_) return;
  committed_op_ = op;
  pump();
}

Result<void> EntryLog::Impl::check_truncation(Op op) const {
  if (!options_.replicated)
    return fail(Errc::kCommitted, fmt::format("{}: a log that is not replicated is not truncated", options_.directory));
  if (truncation_) return fail(Errc::kOutOfSequence, fmt::format("the log is being truncated to op {}", truncation_->op));
  if (op > head_.op) return fail(Errc::kUnknownEntry, fmt::format("{}: op {}, the log ends at {}", options_.directory, op, head_.op));
  const Op kept = std::min(std::max(committed_op_, checkpoint_op_), head_.op);
  if ((op < kept && !SLUICE_MUTATED(kCommittedTruncated)) || op.next() < segments_.front().page.first_op)
    return fail(Errc::kCommitted, fmt::format("{}: a truncation to op {}, op {} is committed", options_.directory, op, kept));
  // Guaranteed by what is committed; but a seal cannot be taken back.
  const Op unsealed = segments_[first_open()].page.first_op;
  if (op.next() < unsealed)
    return fail(Errc::kCommitted, fmt::format("{}: a truncation to op {}, which a sealed segment holds", options_.directory, op));
  return {};
}

// The oldest segment that a truncation may reach into: the active one, or the one before it.
std::size_t EntryLog::Impl::first_open() const {
  return segments_.size() - (unsealed_ && !may_seal() ? 2 : 1);
}

void EntryLog::Impl::truncate(Op op, U128 id, Completion<void> done) {
  if (auto error = closed_error()) return done(fail(std::move(*error)));
  if (auto allowed = check_truncation(op); !allowed) return done(std::move(allowed));
  truncation_ = Truncation{op, id, std::move(done)};
  pump();
}

// What was taken from the queue and met a full disk: nothing of it counts as written.
void EntryLog::Impl::return_chunk() {
  if (!chunk_) return;
  queued_.insert(queued_.begin(), chunk_->entries.begin(), chunk_->entries.end());
  chunk_.reset();
  last_indexed_ = active_index_.empty() ? 0 : active_index_.entries().back().position;
}

const entry::EntryHeader& EntryLog::Impl::hot_header(Op op) const {
  return hot_[hot_.size() - 1 - static_cast<std::size_t>(head_.op - op)].header();
}

// Nothing is under way. Finds where the entry ends, and that it is the one that is meant.
void EntryLog::Impl::start_truncation() {
  // What was committed meanwhile stays.
  const Op op = truncation_->op;
  Truncation asked = *std::exchange(truncation_, std::nullopt);
  const Result<void> allowed = check_truncation(op);
  if (!allowed) return asked.done(fail(allowed.error()));
  truncation_ = std::move(asked);
  busy_ = true;
  return_chunk();
  if (op > written_op_) return truncate_to(head_after(hot_header(op)), written());
  const bool in_active = first_open() + 1 == segments_.size() || op >= segments_.back().page.first_op;
  const Segment& segment = in_active ? segments_.back() : segments_[first_open()];
  if (op == segment.end.op) return truncate_to(segment.end, {segment.end, segment.bytes});
  if (op < segment.page.first_op) return truncate_to(head_before(segment.page), {head_before(segment.page), kSegmentPageBytes});

  const storage::FilePtr file = in_active ? active_log_ : unsealed_->log;
  const Index& index = in_active ? active_index_ : unsealed_->files->index;
  auto found = std::make_shared<ScanResult>();
  queue_.submit(
      [file, range = range_from(index, index.at_or_before(op), segment.bytes), op, found]() -> Result<void> {
        SLUICE_TRY(*found, scan_segment(*file, range, {op, Offset{0}, op, 1}));
        if (found->entries.size() == 1) return {};
        return fail(Errc::kDamagedEntry, fmt::format("{}: op {} is not where it was written", file->path(), op));
      },
      [self = shared_from_this(), found](Result<void> read) {
        if (!self->truncation_) return;  // abandoned
        if (!read) {
          self->busy_ = false;
          self->end_truncation(std::move(read));
          return self->pump();
        }
        const LogHead target = head_after(found->entries.front().header());
        self->truncate_to(target, {target, found->position});
      });
}

// The waiters above the op, in order.
std::deque<EntryLog::Impl::Waiter> EntryLog::Impl::take_waiters_above(Op op) {
  std::deque<Waiter> out;
  while (!waiters_.empty() && waiters_.back().op > op) {
    out.push_front(std::move(waiters_.back()));
    waiters_.pop_back();
  }
  return out;
}

// Who asked for a sync of what goes gets one of what stays: it is all that there is to make durable, and no failure.
void EntryLog::Impl::lower_syncs_to(Op op) {
  for (Waiter& waiter : sync_waiters_) waiter.op = std::min(waiter.op, op);
}

// In memory, what was not written. Returns its bytes.
std::uint64_t EntryLog::Impl::forget_above(const LogHead& target) {
  std::uint64_t forgotten = 0;
  while (!queued_.empty() && queued_.back().header().op > target.op) {
    forgotten += queued_.back().header().stored_bytes();
    queued_.pop_back();
  }
  while (!hot_.empty() && hot_.back().header().op > target.op) {
    hot_bytes_ -= hot_.back().header().stored_bytes();
    hot_.pop_back();
  }
  head_ = target;
  mint_from_.reset();  // the group has decided what is in the log: nothing is in doubt
  return forgotten;
}

// In memory, what was written: the active segment ends at `durable` from now on. Returns the bytes that go.
std::uint64_t EntryLog::Impl::cut_segments(const LogPoint& durable, TruncationJob& job) {
  std::uint64_t cut = 0;
  std::size_t slot = frontier_.newest_slot();
  job.index = active_index_file_;
  if (first_open() + 1 != segments_.size() && durable.head.op < segments_.back().page.first_op) {
    cut += segments_.back().bytes - kSegmentPageBytes;
    job.truncated_segment = segments_.back().page.first_op;
    segments_.pop_back();
    slot = unsealed_->slot;
    active_log_ = std::move(unsealed_->log);
    active_index_ = unsealed_->files->index;
    job.index = nullptr;
    unsealed_.reset();
    segments_.back().files.reset();
  }
  Segment& active = segments_.back();
  cut += active.bytes - durable.position;
  job.sync_first = !job.truncated_segment && synced_.head.op < durable.head.op;
  job.log = active_log_;
  job.segment = active.page.first_op;
  active.end = durable.head;
  active.bytes = durable.position;
  active_index_.cut(durable.position);
  last_indexed_ = active_index_.empty() ? 0 : active_index_.entries().back().position;
  job.index_bytes = active_index_.entries().size() * kIndexEntryBytes;
  job.slot = frontier_.truncation(job.segment, slot, durable, {head_.op, head_.next_offset});
  tail_first_op_ = job.segment;
  tail_bytes_ = durable.position;
  for (const entry::SharedEntry& entry : queued_) {
    if (entry.header().has(entry::flag::kFirstOfSegment) && entry.header().op > tail_first_op_) {
      tail_first_op_ = entry.header().op;
      tail_bytes_ = kSegmentPageBytes;
    }
    tail_bytes_ += entry.header().stored_bytes();
  }
  written_op_ = acknowledged_op_ = durable.head.op;
  return cut;
}

void EntryLog::Impl::truncate_to(const LogHead& target, const LogPoint& durable) {
  if (target.id != truncation_->id && !SLUICE_MUTATED(kTruncatedIdUnchecked)) {
    busy_ = false;
    end_truncation(fail(Errc::kUnknownEntry, fmt::format("{}: op {} is another entry", options_.directory, target.op)));
    return pump();
  }
  if (!SLUICE_MUTATED(kEpochStays)) ++epoch_;
  auto job = std::make_shared<TruncationJob>();
  if (beginning_) job->interrupted_roll = segments_.back().end.op.next();
  std::uint64_t removed = forget_above(target);
  removed += cut_segments(durable, *job);
  bytes_since_checkpoint_ -= std::min(bytes_since_checkpoint_, removed);
  queue_.submit([&storage = storage_, directory = options_.directory, job] { return run_truncation(storage, directory, *job); },
                [self = shared_from_this(), job](Result<void> outcome) { self->on_truncated(*job, std::move(outcome)); });
  if (!SLUICE_MUTATED(kTruncationStrandsSyncs)) lower_syncs_to(target.op);
  for (Waiter& waiter : take_waiters_above(target.op))
    waiter.done(fail(Errc::kTruncated, fmt::format("{}: op {} was cut off behind op {}", options_.directory, waiter.op, target.op)));
}

Result<void> EntryLog::Impl::run_truncation(storage::Storage& storage, const std::string& directory, TruncationJob& job) {
  // It holds nothing, and its name would continue what goes.
  if (job.interrupted_roll && !SLUICE_MUTATED(kInterruptedRollKept))
    SLUICE_CHECK(remove_segment_files(storage, directory, *job.interrupted_roll));
  if (job.sync_first && !SLUICE_MUTATED(kTruncationKeepsUnsynced)) SLUICE_CHECK(job.log->sync());
  SLUICE_CHECK(job.log->write(job.slot.position(), job.slot.bytes));
  if (!SLUICE_MUTATED(kTruncationUndecided)) SLUICE_CHECK(job.log->sync());
  // Decided: a start that finds this slot goes on from here.
  if (job.truncated_segment) SLUICE_CHECK(remove_segment_files(storage, directory, *job.truncated_segment));
  if (!job.index) {
    SLUICE_TRY(job.index, storage.open(directory + "/" + index_name(job.segment), storage::OpenMode::kReadWrite));
  }
  if (SLUICE_MUTATED(kLogCutFirst)) SLUICE_CHECK(job.log->truncate(job.slot.frontier.durable.position));
  SLUICE_CHECK(job.index->truncate(job.index_bytes));
  if (SLUICE_MUTATED(kTruncationZeroes)) {
    SLUICE_TRY(const std::uint64_t end, job.log->size());
    const ByteVector zeros(end - job.slot.frontier.durable.position);
    SLUICE_CHECK(job.log->write(job.slot.frontier.durable.position, zeros));
  } else {
    SLUICE_CHECK(job.log->truncate(job.slot.frontier.durable.position));
  }
  return SLUICE_MUTATED(kTruncationUnsynced) ? Result<void>() : job.log->sync();
}

void EntryLog::Impl::on_truncated(const TruncationJob& job, Result<void> outcome) {
  busy_ = false;
  if (!outcome) return fence(std::move(outcome).error());
  frontier_.on_durable(job.slot);
  synced_ = job.slot.frontier.durable;
  writeback_at_ = synced_.position;
  unsynced_.clear();
  prewriter_.cut();
  active_index_file_ = job.index;
  beginning_ = sync_is_due_ = false;
  end_truncation({});
  settle_retry();
  pump();
}

void EntryLog::Impl::end_truncation(Result<void> outcome) {
  if (!truncation_) return;
  Completion<void> done = std::move(truncation_->done);
  truncation_.reset();
  done(std::move(outcome));
  release_waiters();
}

}  // namespace sluice::log
