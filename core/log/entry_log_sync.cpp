// SPDX-License-Identifier: Apache-2.0
// Syncs apart from flushes: rolls and seals, reservations, the end of the log.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/chain.hpp"
#include "core/log/entry_log_impl.hpp"

namespace sluice::log {

void EntryLog::Impl::sync_to(Op op, Completion<void> done) {
  if (fenced_) return done(fail(*fenced_));
  if (abandoned_) return done(fail(Errc::kStopped, fmt::format("{} is closed", options_.directory)));
  const auto later = [](Op at, const Waiter& waiter) { return at < waiter.op; };
  sync_waiters_.insert(std::upper_bound(sync_waiters_.begin(), sync_waiters_.end(), op, later), Waiter{op, std::move(done)});
  pump();
}

// Releases or starts a sync; whether it made progress.
bool EntryLog::Impl::start_sync_if_wanted() {
  if (sync_waiters_.empty() || syncing_ || sync_is_due_) return false;
  if (sync_waiters_.front().op <= synced_.head.op) {
    Completion<void> done = std::move(sync_waiters_.front().done);
    sync_waiters_.pop_front();
    done({});
    return true;
  }
  if (written_op_ <= synced_.head.op) return false;
  start_sync(frontier_.limit_for(segments_.back().end));
  return true;
}

void EntryLog::Impl::start_sync(const Limit& limit) {
  syncing_ = true;
  auto slot = std::make_shared<FrontierWriter::Slot>(frontier_.next(synced_, limit));
  std::vector<PersistJob> jobs;
  jobs.emplace_back([log = active_log_, slot] {
    auto outcome = outcome_of_write(log->write(slot->position(), slot->bytes));
    return outcome ? outcome_of_sync(log->sync()) : outcome;
  });
  if (options_.index_sync) jobs.emplace_back([index = active_index_file_] { return outcome_of_sync(index->sync()); });
  persist(queue_, std::move(jobs), [self = shared_from_this(), slot, covered = written(), bytes = unsynced_.bytes()](Persisted outcome) {
    self->syncing_ = false;
    if (!outcome) {
      self->sync_is_due_ = outcome.error().no_room;
      return self->on_write_failed(std::move(outcome).error());
    }
    self->frontier_.on_durable(*slot);
    self->synced_ = covered;
    self->writeback_at_ = std::max(self->writeback_at_, covered.position);
    self->unsynced_.subtract(bytes);
    self->settle_retry();
    self->pump();
  });
}

// Another log of the shard has no room for what it has to write. Whether a sync of everything written was started; what is under way here
// makes room by itself.
bool EntryLog::Impl::sync_for_others() {
  if (busy_ || syncing_ || sync_is_due_ || fenced_ || abandoned_ || written_op_ <= synced_.head.op) return false;
  start_sync(frontier_.limit_for(segments_.back().end));
  return true;
}

// Whether the next entry begins a segment and the active one must be completed first.
bool EntryLog::Impl::roll_is_due() const {
  const Segment& active = segments_.back();
  if (SLUICE_MUTATED(kRollFlagIgnored)) return false;
  return queued_.front().header().has(entry::flag::kFirstOfSegment) && active.end.op >= active.page.first_op;
}

void EntryLog::Impl::start_roll() {
  if (syncing_ || (sealing_ && !SLUICE_MUTATED(kThirdUnsealed)) || unsealed_ || prewriter_.under_way()) return;
  busy_ = true;
  auto pair = std::make_shared<SegmentPair>();
  pair->page = page_after(segments_.back().end, options_.group, options_.incarnation);
  pair->slot = frontier_.first_of(pair->page.first_op, {segments_.back().end, kSegmentPageBytes});
  const auto mode = std::exchange(beginning_, true) ? storage::OpenMode::kReplace : storage::OpenMode::kCreateNew;
  queue_.submit(
      [&storage = storage_, directory = options_.directory, log = active_log_, index = active_index_file_, cut_at = zeros_at(), pair,
       mode]() -> Result<void> {
        SLUICE_CHECK(complete_segment(*log, *index, cut_at, *pair));
        pair->completed_last = true;
        return begin_segment(storage, directory, *pair, mode);
      },
      [self = shared_from_this(), pair](Result<void> outcome) {
        self->busy_ = false;
        if (pair->completed_last) {
          self->synced_ = self->written();
          self->unsynced_.clear();
          self->prewriter_.cut();
        }
        if (!outcome) return self->on_write_failed({std::move(outcome).error(), pair->no_room});
        self->beginning_ = false;
        self->on_rolled(*pair);
        self->pump();
      });
}

// Where the zeros ahead begin, if there are any.
std::optional<std::uint64_t> EntryLog::Impl::zeros_at() const {
  const std::uint64_t end = segments_.back().bytes;
  return prewriter_.reaches_beyond(end) ? std::optional(end) : std::nullopt;
}

// Complete first, then begin: a segment that has a successor is whole on the device, and ends with its last entry.
Result<void> EntryLog::Impl::complete_segment(storage::File& log, storage::File& index, std::optional<std::uint64_t> cut_at,
                                              SegmentPair& pair) {
  if (cut_at && !SLUICE_MUTATED(kZerosSealed)) {
    auto cut = log.truncate(*cut_at);
    if (!cut) pair.no_room = cut.error().is(sluice::Errc::kNoSpace);
    SLUICE_CHECK(std::move(cut));
  }
  if (!SLUICE_MUTATED(kRollBeforeLogSync)) SLUICE_CHECK(log.sync());
  return SLUICE_MUTATED(kRollBeforeIndexSync) ? Result<void>() : index.sync();
}

Result<void> EntryLog::Impl::begin_segment(storage::Storage& storage, const std::string& directory, SegmentPair& pair,
                                           storage::OpenMode mode) {
  // What is said to have no room may be tried again; a sync that fails so is a failed sync like any other.
  const auto made = [&](auto& outcome) {
    if (!outcome) pair.no_room = outcome.error().is(sluice::Errc::kNoSpace);
    return outcome.has_value();
  };
  auto log = storage.open(directory + "/" + segment_name(pair.page.first_op), mode);
  if (!made(log)) return fail(std::move(log).error());
  pair.log = *std::move(log);
  auto written = pair.log->write(0, encode_first_page(pair.page, pair.slot.frontier));
  if (!made(written)) return written;
  if (!SLUICE_MUTATED(kRollPageUnsynced)) SLUICE_CHECK(pair.log->sync());
  auto index = storage.open(directory + "/" + index_name(pair.page.first_op), storage::OpenMode::kReplace);
  if (!made(index)) return fail(std::move(index).error());
  pair.index = *std::move(index);
  return SLUICE_MUTATED(kRollDirectoryUnsynced) ? Result<void>() : storage.sync_directory(directory);
}

void EntryLog::Impl::on_rolled(SegmentPair& pair) {
  auto files = std::make_shared<SegmentFiles>();
  files->log = active_log_;
  files->index = std::move(active_index_);
  const Op complete = segments_.back().page.first_op;
  unsealed_ = Unsealed{std::move(active_log_), complete, written(), frontier_.newest_slot(), files};
  frontier_.on_durable(pair.slot);
  synced_ = pair.slot.frontier.durable;
  active_log_ = std::move(pair.log);
  active_index_file_ = std::move(pair.index);
  active_index_ = Index();
  last_indexed_ = 0;
  writeback_at_ = kSegmentPageBytes;
  segments_.push_back({pair.page, unsealed_->end.head, kSegmentPageBytes, nullptr, 0, false});
  keep_files(complete, files);
}

// What the group may still replace is not sealed, nor is the segment that the replacement would go to.
bool EntryLog::Impl::may_seal() const {
  return SLUICE_MUTATED(kUncommittedSealed) || !options_.replicated || committed_op_ >= segments_.back().page.first_op;
}

// The frontier is in the new segment by now. One slot after the other: at any moment one of them verifies.
void EntryLog::Impl::start_seal(Unsealed segment) {
  sealing_ = true;
  auto full = std::make_shared<bool>(false);
  queue_.submit(
      [log = segment.log, seal = encode_frontier(seal_of(segment.segment, segment.end)), full]() -> Result<void> {
        for (std::size_t slot = 0; slot < kFrontierSlots; ++slot) {
          if (auto written = log->write(frontier_position(slot), seal); !written) {
            *full = written.error().is(sluice::Errc::kNoSpace);
            return written;
          }
          SLUICE_CHECK(log->sync());
        }
        return {};
      },
      [self = shared_from_this(), full, segment](Result<void> outcome) mutable {
        self->sealing_ = false;
        if (!outcome) {
          if (*full) self->unsealed_ = std::move(segment);
          return self->on_write_failed({std::move(outcome).error(), *full});
        }
        self->settle_retry();
        self->pump();
      });
}

void EntryLog::Impl::close(Completion<void> done) {
  if (auto error = closed_error()) return done(fail(std::move(*error)));
  stopped_ = true;
  close_done_ = std::move(done);
  stop_waiting_for_room();
  // A failure reaches close_done_ by itself.
  sync_to(SLUICE_MUTATED(kCleanMarkEarly) ? Op{0} : head_.op, [](Result<void>) {});
}

// What nobody waits for any more is written and synced: now the frontier says that nothing is in doubt. Whether it made progress.
bool EntryLog::Impl::start_close_if_wanted() {
  if (!close_done_ || syncing_ || sealing_ || prewriter_.under_way() || !sync_waiters_.empty()) return false;
  const Limit limit{head_.op, head_.next_offset};
  // Offsets in doubt stay so until the gap over them is there.
  if (mint_from_ || (frontier_.newest().is_clean() && frontier_.limit() == limit)) {
    finish_close({});
    return false;
  }
  busy_ = true;
  auto slot = std::make_shared<FrontierWriter::Slot>(frontier_.next(SLUICE_MUTATED(kCleanMarkEarly) ? written() : synced_, limit));
  auto full = std::make_shared<bool>(false);
  queue_.submit(
      [log = active_log_, cut_at = zeros_at(), slot, full]() -> Result<void> {
        auto written = cut_at ? log->truncate(*cut_at) : Result<void>();
        if (written) written = log->write(slot->position(), slot->bytes);
        *full = !written && written.error().is(sluice::Errc::kNoSpace);
        SLUICE_CHECK(std::move(written));
        return log->sync();
      },
      [self = shared_from_this(), slot, full](Result<void> outcome) {
        self->busy_ = false;
        // Without room for it there is no clean end. Everything is synced.
        if (!outcome && *full) return self->fence(Error(Errc::kStorageFull, outcome.error().message()));
        if (!outcome) return self->fence(std::move(outcome).error());
        self->prewriter_.cut();
        self->frontier_.on_durable(*slot);
        self->finish_close({});
      });
  return true;
}

void EntryLog::Impl::finish_close(Result<void> outcome) {
  if (!close_done_) return;
  auto done = std::exchange(close_done_, {});
  done(std::move(outcome));
}

// For good: what the files hold now is for the next start to judge.
void EntryLog::Impl::fence(Error error) {
  if (fenced_ || abandoned_) return;
  if (!error.is(Errc::kStorageFull)) error = Error(Errc::kFenced, fmt::format("{}: {}", options_.directory, error.message()));
  fenced_ = std::move(error);
  const bool marked = !fenced_->is(Errc::kStorageFull) && !SLUICE_MUTATED(kFenceUnmarked);
  if (marked) mark_fence();
  if (!marked || !SLUICE_MUTATED(kToldAfterTheDevice)) drop_waiters(*fenced_);
  unsynced_.clear();
  unsynced_.let_others_in();
}

// A note for the next start that what can be read may not be on the device. If it cannot be written, the next start takes no less care.
void EntryLog::Impl::mark_fence() {
  queue_.submit([&storage = storage_, directory = options_.directory, text = fmt::format("{}\n{}\n", fenced_->code(), fenced_->message())]()
                    -> Result<void> { return storage::replace_file(storage, directory, kFencedName, as_bytes(text)); },
                [self = shared_from_this()](Result<void>) {
                  if (SLUICE_MUTATED(kToldAfterTheDevice)) self->drop_waiters(*self->fenced_);
                });
}

void EntryLog::Impl::drop_waiters(const Error& error) {
  queued_.clear();
  chunk_.reset();
  std::deque<Waiter> waiters;
  waiters.swap(waiters_);
  std::deque<Waiter> syncs;
  syncs.swap(sync_waiters_);
  for (Waiter& waiter : waiters) waiter.done(SLUICE_MUTATED(kFencedAcknowledges) ? Result<void>() : fail(error));
  for (Waiter& waiter : syncs) waiter.done(fail(error));
  end_truncation(fail(error));
  finish_close(fail(error));
}

void EntryLog::Impl::abandon() {
  stopped_ = true;
  abandoned_ = true;
  drop_waiters(Error(Errc::kStopped, fmt::format("{} is closed", options_.directory)));
  unsynced_.clear();
  unsynced_.let_others_in();
}

}  // namespace sluice::log
