// SPDX-License-Identifier: Apache-2.0
#include "core/log/entry_log.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/chain.hpp"
#include "core/log/entry_log_impl.hpp"
#include "core/log/recovery.hpp"
#include "core/log/segment_reader.hpp"

namespace sluice::log {

EntryLog::Impl::Impl(storage::Storage& storage, storage::IoQueue& queue, LogOptions options, RecoveredLog recovered)
    : storage_(storage),
      queue_(queue),
      options_(std::move(options)),
      unsynced_(
          options_.unsynced, [this] { return sync_for_others(); }, [this] { pump(); }),
      frontier_(recovered.frontier, recovered.frontier_slot),
      prewriter_(options_.clock != nullptr ? options_.prewrite : nullptr, options_.segment_bytes),
      epoch_(recovered.frontier.epoch),
      mint_from_(recovered.report.mint_from) {
  for (RecoveredSegment& segment : recovered.segments)
    segments_.push_back({segment.page, segment.end, segment.bytes, nullptr, 0, segment.by_seal});
  active_log_ = std::move(recovered.active_log);
  active_index_file_ = std::move(recovered.active_index);
  active_index_ = std::move(recovered.segments.back().index);
  if (!active_index_.empty()) last_indexed_ = active_index_.entries().back().position;
  head_ = recovered.head();
  tail_first_op_ = segments_.back().page.first_op;
  tail_bytes_ = segments_.back().bytes;
  written_op_ = acknowledged_op_ = head_.op;
  synced_ = {head_, segments_.back().bytes};
  writeback_at_ = synced_.position;
  if (recovered.checkpoint) checkpoint_op_ = recovered.checkpoint->op;
  committed_op_ = checkpoint_op_;
  if (recovered.unsealed_log) {
    const Segment& unsealed = segments_[segments_.size() - 2];
    auto files = std::make_shared<SegmentFiles>();
    files->log = recovered.unsealed_log;
    files->index = std::move(recovered.segments[segments_.size() - 2].index);
    unsealed_ = Unsealed{std::move(recovered.unsealed_log),
                         unsealed.page.first_op,
                         {unsealed.end, unsealed.bytes},
                         recovered.unsealed_slot,
                         std::move(files)};
  }
  // What is sealed was committed, and so was the entry behind it.
  if (const std::size_t open = segments_.size() - (unsealed_ ? 2 : 1); open != 0)
    committed_op_ = std::max(committed_op_, segments_[open].page.first_op);
  bytes_since_checkpoint_ = recovered.bytes_after_checkpoint;
}

Result<void> EntryLog::Impl::replay(Op from, const std::function<Result<void>(const entry::EntryView&)>& visit) {
  for (const Segment& segment : segments_) {
    if (segment.end.op < from || segment.end.op < segment.page.first_op) continue;
    const std::string path = options_.directory + "/" + segment_name(segment.page.first_op);
    SLUICE_TRY(const storage::FilePtr file, storage_.open(path, storage::OpenMode::kRead));
    SegmentReader reader(*file, kSegmentPageBytes, segment.bytes);
    while (true) {
      SLUICE_TRY(const SegmentReader::What what, reader.next());
      if (what == SegmentReader::What::kEnd) break;
      if (what == SegmentReader::What::kDamage) {
        return fail(Error(Errc::kDamagedEntry, fmt::format("{} at byte {}: {}", path, reader.position(), reader.damage().message()))
                        .with("segment", path));
      }
      if (reader.entry().header().op >= from) SLUICE_CHECK(visit(reader.entry()));
    }
  }
  return {};
}

entry::EntryStamp EntryLog::Impl::next_stamp(const entry::EntryDraft& draft, TimestampUs now, bool must_sync) const {
  const bool tail_empty = head_.op < tail_first_op_;
  return {.group = options_.group,
          .incarnation = options_.incarnation,
          .op = head_.op.next(),
          .parent = head_.id,
          .commit = Op{0},
          .view = View{0},
          .base_offset = head_.next_offset,
          .timestamp = SLUICE_MUTATED(kTimestampRepeats) ? now : std::max(now, head_.last_timestamp + 1),
          .must_sync = must_sync,
          .first_of_segment = tail_empty || tail_bytes_ + draft.stored_bytes() > options_.segment_bytes};
}

std::uint64_t EntryLog::Impl::size_bytes() const {
  std::uint64_t sum = 0;
  for (const Segment& segment : segments_) sum += segment.bytes;
  return sum;
}

std::vector<EntryLog::SegmentInfo> EntryLog::Impl::sealed_segments() const {
  std::vector<SegmentInfo> out;
  for (std::size_t i = 0; i + 1 < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    out.push_back({segment.page.first_op, segment.end.op, segment.end.next_offset, segment.end.last_timestamp, segment.bytes, is_sealed(i),
                   segment.by_seal});
  }
  return out;
}

Result<OpenedLog> EntryLog::open(storage::Storage& storage, storage::IoQueue& queue, LogOptions options) {
  SLUICE_TRY(RecoveredLog recovered, recover(storage, options));
  OpenedLog out;
  out.checkpoint = recovered.checkpoint;
  out.report = recovered.report;
  out.log.reset(new EntryLog(std::make_shared<Impl>(storage, queue, std::move(options), std::move(recovered))));
  return out;
}

EntryLog::EntryLog(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
EntryLog::~EntryLog() {
  impl_->abandon();
}

Result<void> EntryLog::replay(Op from, const std::function<Result<void>(const entry::EntryView&)>& visit) {
  return impl_->replay(from, visit);
}

LogHead EntryLog::head() const {
  return impl_->head_;
}
Op EntryLog::acknowledged_op() const {
  return impl_->acknowledged_op_;
}
LogHead EntryLog::acknowledged() const {
  return impl_->segments_.back().end;
}
Op EntryLog::first_op() const {
  return impl_->segments_.front().page.first_op;
}
Offset EntryLog::first_offset() const {
  return impl_->segments_.front().page.base_offset;
}
Op EntryLog::checkpoint_op() const {
  return impl_->checkpoint_op_;
}
std::uint64_t EntryLog::size_bytes() const {
  return impl_->size_bytes();
}
std::uint64_t EntryLog::unsynced_bytes() const {
  return impl_->unsynced_.bytes();
}
std::uint64_t EntryLog::bytes_since_checkpoint() const {
  return impl_->bytes_since_checkpoint_;
}
std::optional<Error> EntryLog::fenced() const {
  return impl_->fenced_;
}
std::optional<Offset> EntryLog::mint_from() const {
  return impl_->mint_from_;
}
std::optional<Error> EntryLog::storage_full() {
  return impl_->storage_full();
}
const LogOptions& EntryLog::options() const {
  return impl_->options_;
}
std::vector<EntryLog::SegmentInfo> EntryLog::sealed_segments() const {
  return impl_->sealed_segments();
}

std::optional<TimestampUs> EntryLog::active_since() const {
  // The first entry of a segment is always indexed.
  const auto entries = impl_->active_index_.entries();
  return entries.empty() ? std::nullopt : std::optional(entries.front().timestamp);
}

entry::EntryStamp EntryLog::next_stamp(const entry::EntryDraft& draft, TimestampUs now, bool must_sync) const {
  return impl_->next_stamp(draft, now, must_sync);
}

void EntryLog::append(entry::SharedEntry entry, Completion<void> on_durable) {
  std::vector<entry::SharedEntry> entries;
  entries.push_back(std::move(entry));
  impl_->append(std::move(entries), std::move(on_durable));
}
void EntryLog::append(std::vector<entry::SharedEntry> entries, Completion<void> on_durable) {
  impl_->append(std::move(entries), std::move(on_durable));
}
void EntryLog::sync(Completion<void> done) {
  impl_->sync(std::move(done));
}
void EntryLog::commit(Op op) {
  impl_->commit(op);
}
std::uint64_t EntryLog::epoch() const {
  return impl_->epoch_;
}
void EntryLog::truncate(Op op, U128 id, Completion<void> done) {
  impl_->truncate(op, id, std::move(done));
}
void EntryLog::stop_waiting_for_room() {
  impl_->stop_waiting_for_room();
}
void EntryLog::close(Completion<void> done) {
  impl_->close(std::move(done));
}

void EntryLog::read(const ReadRequest& request, Completion<ReadResult> done) {
  impl_->read(request, std::move(done));
}
void EntryLog::read_ops(Op from, Op up_to, std::uint64_t bytes_max, Completion<std::vector<entry::SharedEntry>> done) {
  impl_->read_ops(from, up_to, bytes_max, std::move(done));
}
void EntryLog::offset_for_time(TimestampUs at, Op up_to, Completion<Offset> done) {
  impl_->offset_for_time(at, up_to, std::move(done));
}

void EntryLog::write_checkpoint(Op op, ByteVector body, Completion<void> done) {
  impl_->write_checkpoint(op, std::move(body), std::move(done));
}
void EntryLog::scrub(const ScrubPlace& from, std::uint64_t bytes_max, Completion<ScrubStep> done) {
  impl_->scrub(from, bytes_max, std::move(done));
}
void EntryLog::drop_before(Offset trim_floor, Completion<std::size_t> done) {
  impl_->drop_before(trim_floor, std::move(done));
}

}  // namespace sluice::log
