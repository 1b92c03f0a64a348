// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/log/chain.hpp"
#include "core/log/entry_log_impl.hpp"

namespace sluice::log {

std::optional<Error> EntryLog::Impl::closed_error() const {
  if (fenced_) return fenced_;
  if (stopped_) return Error(Errc::kStopped, fmt::format("{} is closed", options_.directory));
  return std::nullopt;
}

Result<void> EntryLog::Impl::check_sequence(const entry::EntryHeader& header) const {
  if (header.group != options_.group || header.incarnation != options_.incarnation) {
    return fail(Errc::kOutOfSequence, fmt::format("an entry of group {}, incarnation {}", header.group, header.incarnation));
  }
  if (auto follows = check_follows(head_, header); !follows) return fail(Errc::kOutOfSequence, follows.error().message());
  if (head_.op < tail_first_op_ && !header.has(entry::flag::kFirstOfSegment))
    return fail(Errc::kOutOfSequence, "the first entry of a segment does not say so");
  return {};
}

void EntryLog::Impl::admit(entry::SharedEntry entry) {
  const entry::EntryHeader& header = entry.header();
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
  sync_waiters_.push_back({head_.op, std::move(done)});
  pump();
}

void EntryLog::Impl::close(Completion<void> done) {
  sync(std::move(done));
  stopped_ = true;
}

// Starts whatever can start. Completions that run inside come back here only through the loop.
void EntryLog::Impl::pump() {
  if (pumping_) return;
  pumping_ = true;
  const auto self = shared_from_this();  // a completion may destroy the log
  while (!busy_ && !fenced_) {
    if (start_sync_if_wanted()) continue;
    if (queued_.empty()) break;
    const bool rolls = start_roll_if_due();
    if (busy_ || rolls) break;
    const bool sync_first = syncing_ && queued_.front().header().has(entry::flag::kMustSync);
    if (sync_first) break;
    flush(take_chunk());
  }
  pumping_ = false;
}

// Releases or starts a sync; whether it made progress.
bool EntryLog::Impl::start_sync_if_wanted() {
  if (sync_waiters_.empty() || syncing_) return false;
  if (sync_waiters_.front().op <= synced_op_) {
    Completion<void> done = std::move(sync_waiters_.front().done);
    sync_waiters_.pop_front();
    done({});
    return true;
  }
  if (written_op_ <= synced_op_) return false;
  syncing_ = true;
  queue_.submit([log = active_log_]() -> Result<void> { return log->sync(); },
                [self = shared_from_this(), covered = written_op_, bytes = unsynced_bytes_](Result<void> outcome) {
                  self->syncing_ = false;
                  if (!outcome) return self->fence(std::move(outcome).error());
                  self->synced_op_ = std::max(self->synced_op_, covered);
                  self->unsynced_bytes_ -= bytes;
                  self->pump();
                });
  return true;
}

// Whether the next entry begins a segment and the active one must be completed first.
bool EntryLog::Impl::start_roll_if_due() {
  const Segment& active = segments_.back();
  const bool due = queued_.front().header().has(entry::flag::kFirstOfSegment) && active.end.op >= active.page.first_op;
  if (!due || syncing_) return due;
  busy_ = true;
  const SegmentPage next = page_after(active.end, options_.group, options_.incarnation);
  auto pair = std::make_shared<SegmentPair>();
  queue_.submit(
      [&storage = storage_, directory = options_.directory, log = active_log_, index = active_index_file_, next, pair]() -> Result<void> {
        SLUICE_CHECK(complete_segment(*log, *index));
        auto begun = begin_segment(storage, directory, next, *pair);
        if (!begun) pair->storage_full = begun.error().is(sluice::Errc::kNoSpace);
        return begun;
      },
      [self = shared_from_this(), next, pair](Result<void> outcome) {
        self->busy_ = false;
        if (!outcome) return self->fence_after_write(pair->storage_full, std::move(outcome).error());
        self->on_rolled(next, std::move(*pair));
        self->pump();
      });
  return true;
}

// Complete first, then begin: a segment that has a successor is whole on the device.
Result<void> EntryLog::Impl::complete_segment(storage::File& log, storage::File& index) {
  SLUICE_CHECK(log.sync());
  return index.sync();
}

Result<void> EntryLog::Impl::begin_segment(storage::Storage& storage, const std::string& directory, const SegmentPage& page,
                                           SegmentPair& out) {
  SLUICE_TRY(out.log, storage.open(directory + "/" + segment_name(page.first_op), storage::OpenMode::kCreateNew));
  SLUICE_CHECK(out.log->write(0, encode_segment_page(page)));
  SLUICE_CHECK(out.log->sync());
  SLUICE_TRY(out.index, storage.open(directory + "/" + index_name(page.first_op), storage::OpenMode::kReplace));
  return storage.sync_directory(directory);
}

void EntryLog::Impl::on_rolled(const SegmentPage& page, SegmentPair pair) {
  auto files = std::make_shared<SegmentFiles>();
  files->log = std::move(active_log_);
  files->index = std::move(active_index_);
  const Op complete = segments_.back().page.first_op;
  LogHead end = segments_.back().end;
  synced_op_ = written_op_;
  unsynced_bytes_ = 0;
  active_log_ = std::move(pair.log);
  active_index_file_ = std::move(pair.index);
  active_index_ = Index();
  last_indexed_ = 0;
  segments_.push_back({page, end, kSegmentPageBytes, nullptr, 0});
  keep_files(complete, std::move(files));
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
    chunk->parts.push_back(queued_.front().view.bytes());
    chunk->entries.push_back(std::move(queued_.front()));
    queued_.pop_front();
  }
  return chunk;
}

// Both halves; the caller advances its cursors only if both succeeded.
Result<void> EntryLog::Impl::write_chunk(storage::File& log, storage::File& index, Chunk& chunk) {
  auto outcome = log.write(chunk.position, chunk.parts);
  if (outcome && !chunk.index_bytes.empty()) outcome = index.write(chunk.index_position, chunk.index_bytes);
  if (!outcome) chunk.storage_full = outcome.error().is(sluice::Errc::kNoSpace);
  return outcome;
}

void EntryLog::Impl::flush(std::shared_ptr<Chunk> chunk) {
  if (!chunk->must_sync) {
    // Into the page cache, right here: a hop to another thread and back would cost more than the copy.
    if (auto outcome = write_chunk(*active_log_, *active_index_file_, *chunk); !outcome)
      return fence_after_write(chunk->storage_full, std::move(outcome).error());
    unsynced_bytes_ += chunk->bytes;
    return on_written(*chunk);
  }
  busy_ = true;
  queue_.submit(
      [chunk, log = active_log_, index = active_index_file_]() -> Result<void> {
        SLUICE_CHECK(write_chunk(*log, *index, *chunk));
        return log->sync();
      },
      [self = shared_from_this(), chunk](Result<void> outcome) {
        self->busy_ = false;
        if (!outcome) return self->fence_after_write(chunk->storage_full, std::move(outcome).error());
        self->synced_op_ = chunk->entries.back().header().op;
        self->unsynced_bytes_ = 0;
        // Every waiter first: what they append in answer goes into the next flush together.
        self->pumping_ = true;
        self->on_written(*chunk);
        self->pumping_ = false;
        self->pump();
      });
}

void EntryLog::Impl::on_written(const Chunk& chunk) {
  Segment& active = segments_.back();
  active.bytes += chunk.bytes;
  active.end = head_after(chunk.entries.back().header());
  for (const IndexEntry& entry : chunk.index_entries) active_index_.add(entry);
  written_op_ = acknowledged_op_ = active.end.op;
  evict_hot();
  release_waiters();
}

void EntryLog::Impl::release_waiters() {
  while (!waiters_.empty() && waiters_.front().op <= acknowledged_op_) {
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

void EntryLog::Impl::fence_after_write(bool storage_full, Error error) {
  if (!storage_full) return fence(std::move(error));
  fence(Error(Errc::kStorageFull, fmt::format("{}: {}", options_.directory, error.message())));
}

// For good: what the files hold now is for the next start to judge.
void EntryLog::Impl::fence(Error error) {
  if (fenced_ || abandoned_) return;
  if (!error.is(Errc::kStorageFull)) error = Error(Errc::kFenced, fmt::format("{}: {}", options_.directory, error.message()));
  fenced_ = std::move(error);
  queued_.clear();
  std::deque<Waiter> waiters;
  waiters.swap(waiters_);
  std::deque<Waiter> syncs;
  syncs.swap(sync_waiters_);
  for (Waiter& waiter : waiters) waiter.done(fail(*fenced_));
  for (Waiter& waiter : syncs) waiter.done(fail(*fenced_));
}

void EntryLog::Impl::abandon() {
  stopped_ = true;
  abandoned_ = true;
  queued_.clear();
  std::deque<Waiter> waiters;
  waiters.swap(waiters_);
  std::deque<Waiter> syncs;
  syncs.swap(sync_waiters_);
  const Error error(Errc::kStopped, fmt::format("{} is closed", options_.directory));
  for (Waiter& waiter : waiters) waiter.done(fail(error));
  for (Waiter& waiter : syncs) waiter.done(fail(error));
}

}  // namespace sluice::log
