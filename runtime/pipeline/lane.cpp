// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/lane.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.hpp"

namespace sluice::pipeline {

namespace {

// A record of its own: it must not keep the whole read alive for as long as it waits.
struct CopiedRecord {
  Record record;
  client::LogRecord log;

  explicit CopiedRecord(const client::LogRecord& from)
      : record(Record::copy_of(from.record)), log{from.offset, from.timestamp, record.view()} {}
};

bool same_key(const client::LogRecord& a, const client::LogRecord& b) {
  if (a.record.key.has_value() != b.record.key.has_value()) return false;
  return !a.record.key || std::ranges::equal(*a.record.key, *b.record.key);
}

}  // namespace

std::uint64_t record_bytes(const RecordView& record) {
  return (record.key ? record.key->size() : 0) + (record.payload ? record.payload->size() : 0) + record.headers.encoded().size();
}

void LaneBatch::clear() {
  items.clear();
  owners.clear();
  bytes = 0;
  attempt = 1;
  offered_before = false;
}

Lane::Lane(LaneOptions options, PartitionProgress progress, Offset resume_next, std::set<Offset> buried)
    : options_(std::move(options)),
      progress_(std::move(progress)),
      resume_next_(resume_next),
      buried_(std::move(buried)),
      durable_reported_(resume_next) {
  SLUICE_ASSERT(resume_next >= progress_.committed_next(), "resume {} committed {}", resume_next, progress_.committed_next());
}

Result<void> Lane::add(std::shared_ptr<const client::ReadResult> result, Instant now, Fate hole) {
  const auto& records = result->records;
  const Offset from = progress_.read_next();
  Offset at = from;
  std::uint64_t missing = 0;
  for (const client::LogRecord& record : records) {
    if (record.offset < at || record.offset >= result->next) {
      return fail(sluice::Errc::kInternal,
                  fmt::format("a read from {} to {} returned offset {} after {}", from, result->next, record.offset, at));
    }
    missing += record.offset - at;
    at = record.offset.next();
  }
  if (result->next < at)
    return fail(sluice::Errc::kInternal, fmt::format("a read from {} ends at {}, before its records", from, result->next));
  missing += result->next - at;
  if (missing != result->gap_offsets) {
    return fail(sluice::Errc::kInternal, fmt::format("a read from {} to {} misses {} offsets, but gaps explain {}", from, result->next,
                                                     missing, result->gap_offsets));
  }
  Fresh fresh{std::move(result), 0, now};
  for (const client::LogRecord& record : fresh.result->records) {
    progress_.extend(record.offset, hole);
    if (record.offset < resume_next_) {
      progress_.extend(record.offset.next(), buried_.contains(record.offset) ? Fate::kDeadLettered : Fate::kDelivered);
      ++fresh.next;
      continue;
    }
    progress_.extend(record.offset.next(), Fate::kPending);
    fresh_bytes_ += record_bytes(record.record);
    ++fresh_records_;
  }
  progress_.extend(fresh.result->next, hole);
  if (fresh.next < fresh.result->records.size()) fresh_.push_back(std::move(fresh));
  return {};
}

std::uint64_t Lane::expire(Offset earliest) {
  const std::uint64_t gone = earliest - std::min(earliest, progress_.read_next());
  if (gone > 0) progress_.extend(earliest, Fate::kExpired);
  return gone;
}

Lane::Waiting Lane::copied(const client::LogRecord& record) {
  auto copy = std::make_shared<const CopiedRecord>(record);
  return {&copy->log, copy, {}};
}

bool Lane::key_waits(const client::LogRecord& record) const {
  return std::ranges::any_of(waiting_, [&](const Waiting& w) { return w.record->offset < record.offset && same_key(*w.record, record); });
}

bool Lane::lingers(Instant now) const {
  if (options_.batching.linger.count() == 0) return false;
  return fresh_records_ < options_.batching.records_max && fresh_bytes_ < options_.batching.bytes_max &&
         now < fresh_.front().arrived + options_.batching.linger;
}

bool Lane::take(Instant now, std::uint64_t records_max, LaneBatch& batch) {
  batch.clear();
  if (records_max == 0 || !doomed_.empty() || must_flush()) return false;
  if (options_.commit_before_next && (commit_ || progress_.committable())) return false;
  records_max = std::min<std::uint64_t>(records_max, options_.batching.records_max);
  if (take_waiting(now, records_max, batch)) return true;
  if (options_.ordering == config::Ordering::kPartition && !waiting_.empty()) return false;
  if (waiting_.size() >= kWaitingRecordsMax || waiting_bytes_ >= options_.batching.unacked_bytes_max) return false;
  return take_fresh(now, records_max, batch);
}

bool Lane::take_waiting(Instant now, std::uint64_t records_max, LaneBatch& batch) {
  const bool in_order = options_.ordering == config::Ordering::kPartition;
  for (const Waiting& waiting : waiting_) {
    if (batch.items.size() >= records_max || batch.bytes >= options_.batching.bytes_max) break;
    if (!waiting.retry.due(now)) {
      if (in_order) break;
      continue;
    }
    if (options_.ordering == config::Ordering::kKey && key_waits(*waiting.record)) continue;
    const std::uint64_t bytes = record_bytes(waiting.record->record);
    if (!batch.items.empty() && batch.bytes + bytes > options_.batching.bytes_max) break;
    batch.items.push_back({waiting.record, narrow<std::uint32_t>(batch.owners.size())});
    batch.owners.push_back(waiting.owner);
    batch.bytes += bytes;
    batch.attempt = std::max(batch.attempt, waiting.retry.attempts() + 1);
  }
  batch.offered_before = !batch.items.empty();
  return batch.offered_before;
}

bool Lane::take_fresh(Instant now, std::uint64_t records_max, LaneBatch& batch) {
  if (fresh_.empty() || lingers(now)) return false;
  const bool by_key = options_.ordering == config::Ordering::kKey;
  bool full = false;
  while (!fresh_.empty() && !full) {
    Fresh& front = fresh_.front();
    const auto& records = front.result->records;
    const auto owner = narrow<std::uint32_t>(batch.owners.size());
    batch.owners.push_back(front.result);
    for (; front.next < records.size(); ++front.next) {
      const client::LogRecord& record = records[front.next];
      const std::uint64_t bytes = record_bytes(record.record);
      full = batch.items.size() >= records_max || (!batch.items.empty() && batch.bytes + bytes > options_.batching.bytes_max);
      if (full) break;
      --fresh_records_;
      fresh_bytes_ -= bytes;
      if (by_key && !waiting_.empty() && key_waits(record)) {
        wait(copied(record));
        continue;
      }
      batch.items.push_back({&record, owner});
      batch.bytes += bytes;
    }
    if (front.next == records.size()) fresh_.pop_front();
  }
  return !batch.items.empty();
}

std::optional<Instant> Lane::next_at(Instant now) const {
  std::optional<Instant> at;
  const auto consider = [&](Instant candidate) { at = at ? std::min(*at, candidate) : candidate; };
  for (const Waiting& waiting : waiting_) {
    // One that never failed goes at once, or behind one that did.
    if (waiting.retry.attempts() > 0) consider(waiting.retry.due_at());
    if (options_.ordering == config::Ordering::kPartition) break;
  }
  if (!fresh_.empty() && lingers(now)) consider(fresh_.front().arrived + options_.batching.linger);
  return at;
}

bool Lane::must_flush() const {
  return late_accepts_ || progress_.count(Fate::kAccepted) >= options_.batching.unacked_records_max ||
         (unacked_bytes_ >= options_.batching.unacked_bytes_max && unflushed());
}

void Lane::durable(Offset durable_next) {
  durable_reported_ = std::max(durable_reported_, durable_next);
  if (late_accepts_) return;
  progress_.make_durable(durable_reported_);
  if (!unflushed()) unacked_bytes_ = 0;
}

void Lane::flushed() {
  late_accepts_ = false;
  progress_.make_durable(progress_.read_next());
  unacked_bytes_ = 0;
}

void Lane::buried(std::size_t count) {
  SLUICE_ASSERT(count <= doomed_.size(), "buried {} of {}", count, doomed_.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Offset offset = doomed_.front().record->offset;
    progress_.settle(offset, offset.next(), Fate::kDeadLettered);
    doomed_.pop_front();
  }
}

std::optional<PartitionProgress::Commit> Lane::begin_commit() {
  if (commit_) return std::nullopt;
  commit_ = progress_.committable();
  return commit_;
}

void Lane::commit_succeeded() {
  SLUICE_ASSERT(commit_.has_value(), "no commit in flight");
  progress_.committed(*commit_);
  commit_.reset();
}

std::optional<Lane::Holdup> Lane::holdup() const {
  for (const Waiting& waiting : waiting_) {
    if (waiting.retry.attempts() > 0) return Holdup{waiting.retry.attempts(), waiting.retry.due_at()};
  }
  return std::nullopt;
}

}  // namespace sluice::pipeline
