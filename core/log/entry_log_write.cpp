// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/chain.hpp"
#include "core/log/entry_log_impl.hpp"

namespace sluice::log {

std::optional<Error> EntryLog::Impl::closed_error() const {
  if (fenced_ && !SLUICE_MUTATED(kFencedTakesMore)) return fenced_;
  if (stopped_) return Error(Errc::kStopped, fmt::format("{} is closed", options_.directory));
  return std::nullopt;
}

Result<void> EntryLog::Impl::check_sequence(const entry::EntryHeader& header) const {
  if (header.group != options_.group || header.incarnation != options_.incarnation) {
    return fail(Errc::kOutOfSequence, fmt::format("an entry of group {}, incarnation {}", header.group, header.incarnation));
  }
  if (auto follows = check_follows(head_, header); !follows) return fail(Errc::kOutOfSequence, follows.error().message());
  if (mint_from_ && !SLUICE_MUTATED(kGapLeftOut) && (header.kind != entry::EntryKind::kGap || header.next_offset < *mint_from_)) {
    return fail(Errc::kOutOfSequence,
                fmt::format("offsets below {} may have been given out before: a gap up to there comes first", *mint_from_));
  }
  if (head_.op < tail_first_op_ && !header.has(entry::flag::kFirstOfSegment))
    return fail(Errc::kOutOfSequence, "the first entry of a segment does not say so");
  return {};
}

void EntryLog::Impl::admit(entry::SharedEntry entry) {
  const entry::EntryHeader& header = entry.header();
  mint_from_.reset();
  if (header.has(entry::flag::kFirstOfSegment) && head_.op >= tail_first_op_) {
    tail_first_op_ = header.op;
    tail_bytes_ = kSegmentPageBytes;
  }
  tail_bytes_ += header.stored_bytes();
  bytes_since_checkpoint_ += header.stored_bytes();
  head_ = head_after(header);
  hot_bytes_ += header.stored_bytes();
  hot_.push_back(entry);
  queued_.push_back(std::move(entry));
}

void EntryLog::Impl::append(std::vector<entry::SharedEntry> entries, Completion<void> on_durable) {
  if (auto error = closed_error()) return on_durable(fail(std::move(*error)));
  if (auto full = storage_full(); full && !SLUICE_MUTATED(kFullDiskTakesMore)) return on_durable(fail(std::move(*full)));
  if (truncation_) return on_durable(fail(Errc::kOutOfSequence, fmt::format("the log is being truncated to op {}", truncation_->op)));
  if (entries.empty()) return on_durable(fail(Errc::kOutOfSequence, "an append without an entry"));
  // All or nothing: a later entry is checked against the one before it.
  LogHead before = head_;
  if (auto first = check_sequence(entries.front().header()); !first) return on_durable(std::move(first));
  for (const entry::SharedEntry& entry : entries) {
    if (auto follows = check_follows(before, entry.header()); !follows)
      return on_durable(fail(Errc::kOutOfSequence, follows.error().message()));
    before = head_after(entry.header());
  }
  for (entry::SharedEntry& entry : entries) admit(std::move(entry));
  waiters_.push_back({head_.op, std::move(on_durable)});
  pump();
}

void EntryLog::Impl::sync(Completion<void> done) {
  if (auto error = closed_error()) return done(fail(std::move(*error)));
  sync_to(head_.op, std::move(done));
}

// Starts whatever can start. Completions that run inside come back here only through the loop.
void EntryLog::Impl::pump() {
  if (pumping_) return;
  pumping_ = true;
  const auto self = shared_from_this();  // a completion may destroy the log
  while (!busy_ && !fenced_) {
    if (truncation_) {
      if (SLUICE_MUTATED(kTruncationInFlight) || (!syncing_ && !sealing_ && !prewriter_.under_way())) start_truncation();
      if (truncation_) break;
    }
    if (start_zeros_back()) break;
    if (unsealed_ && !sealing_ && may_seal() && (!full_ || retrying_)) start_seal(*std::exchange(unsealed_, std::nullopt));
    // Nobody may wait for the sync that is due: a reservation ahead of the appends is nobody's.
    if (retrying_ && !syncing_ && std::exchange(sync_is_due_, false)) {
      start_sync(frontier_.limit_for(segments_.back().end));
      continue;
    }
    if (start_sync_if_wanted()) continue;
    if (full_ && !retrying_) {
      if (!waits_for_room_) give_up();
      break;
    }
    if (!chunk_ && queued_.empty()) {
      if (start_close_if_wanted()) continue;
      break;
    }
    if (!chunk_ && roll_is_due()) {
      start_roll();
      break;
    }
    if (!chunk_ && (lingers() || gathers())) break;
    if (!chunk_) chunk_ = take_chunk();
    if (!may_flush_chunk()) break;
    flush();
  }
  pumping_ = false;
  unsynced_.let_others_in();
}

// One sync at a time; and what is acknowledged without one needs a limit above it that is durable already.
bool EntryLog::Impl::may_flush_chunk() {
  if (prewriter_.blocks(chunk_->end_position()) && !SLUICE_MUTATED(kZerosInTheWay)) return false;
  if (syncing_ && chunk_->must_sync) return false;
  if (chunk_->must_sync) return true;
  if (frontier_.limit().covers(chunk_->end) || SLUICE_MUTATED(kLimitNotAwaited)) return unsynced_.may_add(chunk_->bytes);
  if (!syncing_) {
    start_sync(frontier_.limit_for(chunk_->end));
    if (!frontier_.newest().is_clean()) frontier_.widen();
  }
  return false;
}

// As many queued entries as one flush takes, with their places.
std::shared_ptr<EntryLog::Impl::Chunk> EntryLog::Impl::take_chunk() {
  auto chunk = std::make_shared<Chunk>();
  const Segment& active = segments_.back();
  chunk->position = active.bytes;
  chunk->index_position = active_index_.entries().size() * kIndexEntryBytes;
  while (!queued_.empty()) {
    const entry::EntryHeader& header = queued_.front().header();
    const bool first_of_segment = header.has(entry::flag::kFirstOfSegment);
    const bool begins_next = first_of_segment && !chunk->entries.empty();
    const bool must_sync = header.has(entry::flag::kMustSync);
    if (!chunk->entries.empty() && (begins_next || must_sync != chunk->must_sync || chunk->bytes + header.stored_bytes() > kFlushBytesMax))
      break;
    const std::uint64_t position = chunk->position + chunk->bytes;
    if (last_indexed_ == 0 || position - last_indexed_ >= options_.index_stride_bytes) {
      chunk->index_entries.push_back({header.op, header.base_offset, header.base_timestamp, position});
      encode_index_entry(chunk->index_bytes, chunk->index_entries.back());
      last_indexed_ = position;
    }
    chunk->must_sync = must_sync;
    chunk->bytes += header.stored_bytes();
    chunk->end = head_after(header);
    chunk->parts.push_back(queued_.front().view.bytes());
    chunk->entries.push_back(std::move(queued_.front()));
    queued_.pop_front();
  }
  return chunk;
}

Persisted EntryLog::Impl::Chunk::write_log(storage::File& log) const {
  if (must_sync) {
    if (auto written = outcome_of_write(log.write(slot.position(), slot.bytes)); !written) return written;
  }
  return outcome_of_write(log.write(position, parts));
}

Persisted EntryLog::Impl::Chunk::write_index(storage::File& index) const {
  if (index_bytes.empty()) return {};
  auto outcome = outcome_of_write(index.write(index_position, index_bytes));
  return SLUICE_MUTATED(kIndexHalfForgotten) ? Persisted() : outcome;
}

void EntryLog::Impl::flush_to_cache() {
  // Right here: a hop to another thread and back would cost more than the copy.
  auto outcome = SLUICE_MUTATED(kAnsweredFromMemory) ? Persisted() : chunk_->write_log(*active_log_);
  if (outcome) outcome = chunk_->write_index(*active_index_file_);
  if (!outcome) return on_write_failed(std::move(outcome).error());
  const auto chunk = std::exchange(chunk_, nullptr);
  unsynced_.add(chunk->bytes);
  if (SLUICE_MUTATED(kZerosWithoutSync)) prewrite_beside(*chunk);
  on_written(*chunk);
  // In time, so that no append has to wait for it.
  if (full_) return;
  const Limit next = frontier_.limit_for(segments_.back().end);
  if (!syncing_ && !fenced_ && next != frontier_.limit()) start_sync(next);
  start_writeback();
}

// So that the next sync finds little to do, and nobody who writes meanwhile waits for it. A job, because it may wait for the device.
void EntryLog::Impl::start_writeback() {
  const std::uint64_t end = segments_.back().bytes;
  if (end - writeback_at_ < kWritebackBytes) return;
  queue_.submit(
      [log = active_log_, from = std::exchange(writeback_at_, end), end]() -> Result<void> {
        log->start_writeback(from, end - from);
        return {};
      },
      [](Result<void>) {});
}

void EntryLog::Impl::flush() {
  if (!chunk_->must_sync) return flush_to_cache();
  busy_ = true;
  if (options_.clock != nullptr) flush_began_ = options_.clock->monotonic();
  const LogPoint durable = SLUICE_MUTATED(kFrontierAhead) ? LogPoint{chunk_->end, chunk_->end_position()} : synced_;
  const bool stays_clean = SLUICE_MUTATED(kCleanMarkStays) && frontier_.newest().is_clean();
  chunk_->slot = frontier_.next(durable, stays_clean ? frontier_.limit() : frontier_.limit_for(chunk_->end));
  persist(queue_, jobs_of_flush(), [self = shared_from_this(), chunk = chunk_](Persisted outcome) {
    self->busy_ = false;
    if (!outcome) return self->on_write_failed(std::move(outcome).error());
    self->on_flushed(*chunk);
  });
  prewrite_beside(*chunk_);
  if (SLUICE_MUTATED(kTwoFlushesAtOnce)) busy_ = std::exchange(chunk_, nullptr) == nullptr;
}

std::vector<PersistJob> EntryLog::Impl::jobs_of_flush() const {
  std::vector<PersistJob> jobs;
  if (!options_.index_sync) {
    jobs.emplace_back([chunk = chunk_, log = active_log_, index = active_index_file_] {
      auto outcome = chunk->write_log(*log);
      if (outcome) outcome = chunk->write_index(*index);
      return outcome && !SLUICE_MUTATED(kAnsweredBeforeSync) ? outcome_of_sync(log->sync()) : outcome;
    });
    return jobs;
  }
  jobs.emplace_back([chunk = chunk_, log = active_log_] {
    auto outcome = chunk->write_log(*log);
    return outcome ? outcome_of_sync(log->sync()) : outcome;
  });
  jobs.emplace_back([chunk = chunk_, index = active_index_file_] {
    auto outcome = chunk->write_index(*index);
    return outcome && !SLUICE_MUTATED(kAnsweredBeforeIndexSync) ? outcome_of_sync(index->sync()) : outcome;
  });
  return jobs;
}

void EntryLog::Impl::on_flushed(const Chunk& chunk) {
  chunk_.reset();
  frontier_.on_durable(chunk.slot);
  synced_ = {chunk.end, chunk.end_position()};
  writeback_at_ = synced_.position;
  unsynced_.clear();
  const std::size_t waiting = queued_.size();
  // Every waiter first: what they append in answer goes into the next flush together.
  pumping_ = !SLUICE_MUTATED(kFlushBeforeAnswers);
  on_written(chunk);
  begin_linger(chunk.entries.size(), waiting);
  pumping_ = false;
  pump();
}

// `group` were answered just now, `waiting` have come meanwhile. Without the latter, two halves of the producers would take turns.
void EntryLog::Impl::begin_linger(std::size_t group, std::size_t waiting) {
  if (SLUICE_MUTATED(kLingersAlone)) group = std::max<std::size_t>(group, 2);
  gather_ = SLUICE_MUTATED(kHalvesTakeTurns) ? group : group + waiting;
  lingering_ = false;
  if (options_.clock == nullptr || !options_.after) return;
  const auto took = options_.clock->monotonic() - flush_began_;
  flush_average_ = flushes_++ == 0 ? took : flush_average_ + (took - flush_average_) / 8;
  if (group <= 1 || queued_.size() >= gather_ || fenced_ || abandoned_) return;
  lingering_ = true;
  options_.after(std::min<Clock::Monotonic>(flush_average_ / 4, kLingerMax), [log = weak_from_this(), flush = flushes_] {
    const auto self = log.lock();
    if (!self || self->flushes_ != flush) return;
    self->lingering_ = SLUICE_MUTATED(kLingersForEver);
    self->pump();
  });
}

// Never for somebody who asks for a sync or wants to leave.
bool EntryLog::Impl::lingers() const {
  return lingering_ && queued_.size() < gather_ && queued_.front().header().has(entry::flag::kMustSync) &&
         (sync_waiters_.empty() || SLUICE_MUTATED(kLingersWithSync));
}

// Entries that are only written: those of one turn of the owner's loop go into one write. Nothing but that turn is waited for.
bool EntryLog::Impl::gathers() {
  if (!options_.defer || queued_.front().header().has(entry::flag::kMustSync)) return false;
  if (std::exchange(gathered_, false)) return false;
  if (std::exchange(gathering_, true)) return true;
  options_.defer([log = weak_from_this()] {
    const auto self = log.lock();
    if (!self) return;
    self->gathering_ = false;
    self->gathered_ = true;
    self->pump();
    self->gathered_ = false;
  });
  return true;
}

void EntryLog::Impl::on_written(const Chunk& chunk) {
  Segment& active = segments_.back();
  active.bytes += chunk.bytes;
  active.end = chunk.end;
  for (const IndexEntry& entry : chunk.index_entries) active_index_.add(entry);
  written_op_ = acknowledged_op_ = active.end.op;
  settle_retry();
  evict_hot();
  release_waiters();
}

// A full disk is no fault: nothing was synced since, so the same bytes go to the same places when there is room.
void EntryLog::Impl::on_write_failed(PersistFailure failure) {
  if (abandoned_) return;
  retrying_ = false;
  if (!failure.no_room && !SLUICE_MUTATED(kSyncTriedAgain)) return fence(std::move(failure.error));
  Error full(Errc::kStorageFull, fmt::format("{}: {}", options_.directory, failure.error.message()));
  if (SLUICE_MUTATED(kFullDiskFences)) return fence(std::move(full));
  const bool is_news = !full_;
  if (SLUICE_MUTATED(kFailedHalfMoves) && chunk_) chunk_->position += chunk_->bytes;
  full_ = std::move(full);
  if (is_news && options_.on_full) options_.on_full(*full_);
  pump();  // what is written may still be synced
  retry_later();
}

void EntryLog::Impl::retry_later() {
  if (fenced_ || abandoned_ || !options_.after || std::exchange(retry_timer_, true)) return;
  options_.after(kFullRetryInterval, [log = weak_from_this()] {
    const auto self = log.lock();
    if (!self) return;
    self->retry_timer_ = false;
    const bool may = !self->options_.may_retry || self->options_.may_retry() || SLUICE_MUTATED(kWaitingTakesReserve);
    if (may) return self->retry();
    self->retry_later();
  });
}

void EntryLog::Impl::retry() {
  if (!full_ || retrying_ || abandoned_) return;
  retrying_ = true;
  pump();
}

// Once nothing that met the full disk is left undone, appends are taken again.
void EntryLog::Impl::settle_retry() {
  if (!full_ || chunk_ || sync_is_due_ || (unsealed_ && may_seal()) || sealing_ || beginning_) return;
  full_.reset();
  retrying_ = false;
}

void EntryLog::Impl::stop_waiting_for_room() {
  waits_for_room_ = SLUICE_MUTATED(kStopWaitsForRoom);
  retry();
}

// There is no room, and nobody waits for it any more. What was acknowledged is saved first.
void EntryLog::Impl::give_up() {
  if (syncing_ || sealing_) return;  // their end comes back here
  const bool saved = written_op_ <= synced_.head.op || SLUICE_MUTATED(kGivenUpUnsynced);
  if (!saved && !sync_is_due_) return start_sync(frontier_.limit_for(segments_.back().end));
  fence(saved ? *full_ : Error(sluice::Errc::kNoSpace, full_->message()));
}

std::optional<Error> EntryLog::Impl::storage_full() {
  // With a timer, calls do not try: each would write in vain.
  if (!options_.after) retry();
  return full_;
}

void EntryLog::Impl::release_waiters() {
  // Nobody is told any more of an entry that goes.
  const Op bound = truncation_ && !SLUICE_MUTATED(kTruncatedAcknowledged) ? std::min(acknowledged_op_, truncation_->op) : acknowledged_op_;
  while (!waiters_.empty() && waiters_.front().op <= bound) {
    Completion<void> done = std::move(waiters_.front().done);
    waiters_.pop_front();
    done({});
  }
}

void EntryLog::Impl::evict_hot() {
  while (hot_bytes_ > options_.hot_bytes && !hot_.empty() && hot_.front().header().op <= written_op_) {
    hot_bytes_ -= hot_.front().header().stored_bytes();
    hot_.pop_front();
  }
}

}  // namespace sluice::log
