// SPDX-License-Identifier: Apache-2.0
#include "core/entry/batch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/checksum.hpp"
#include "core/base/mutation.hpp"
#include "core/entry/frame.hpp"

namespace sluice::entry {
namespace {

// Any two timestamps have a delta: the arithmetic wraps, and wraps back when it is read.
std::uint64_t origin_delta(TimestampUs from, TimestampUs to) {
  return static_cast<std::uint64_t>(to.value()) - static_cast<std::uint64_t>(from.value());
}
TimestampUs origin_at(TimestampUs from, std::uint64_t delta) {
  return TimestampUs{static_cast<std::int64_t>(static_cast<std::uint64_t>(from.value()) + delta)};
}

}  // namespace

BatchBuilder::BatchBuilder(std::size_t entry_bytes_max) : bytes_max_(std::min(entry_bytes_max, kEntryBytesMax)) {
  bytes_.resize(kEntryHeaderBytes);
}

Result<void> BatchBuilder::add(const RecordView& record) {
  const std::size_t size = frame_bytes(record);
  if (size > bytes_max_ - std::min(bytes_max_, bytes_.size()) && count_ != 0) {
    return fail(Errc::kBatchFull,
                fmt::format("a record of {} bytes does not fit into the {} left", size, bytes_max_ - std::min(bytes_max_, bytes_.size())));
  }
  if (count_ == 0) first_origin_ = min_origin_ = record.origin_timestamp;
  SLUICE_CHECK(append_message(bytes_, record, {.offset = count_, .timestamp = origin_delta(first_origin_, record.origin_timestamp)}));
  min_origin_ = std::min(min_origin_, record.origin_timestamp);
  ++count_;
  return {};
}

Result<EntryDraft> BatchBuilder::finish(std::optional<Bytes> source_state) && {
  if (count_ == 0 && !SLUICE_MUTATED(kEmptyBatchTaken)) return fail(Errc::kBatchEmpty, "a batch without a record");
  const std::size_t messages_bytes = bytes_.size() - kEntryHeaderBytes;
  if (source_state) {
    if (source_state->empty() || source_state->size() > kStateSectionBytesMax) {
      return fail(Errc::kStateTooLarge,
                  fmt::format("a source state of {} bytes; 1 to {} are allowed", source_state->size(), kStateSectionBytesMax));
    }
    if (source_state->size() > kEntryBytesMax - bytes_.size())
      return fail(Errc::kBatchFull, "the source state does not fit into the entry");
    bytes_.insert(bytes_.end(), source_state->begin(), source_state->end());
  }
  if (min_origin_ != first_origin_) {
    const std::uint64_t shift = origin_delta(min_origin_, first_origin_);
    for (std::size_t at = kEntryHeaderBytes; at < kEntryHeaderBytes + messages_bytes; at += frame::load_sizes(bytes_.data() + at).frame()) {
      std::byte* const field = bytes_.data() + at + frame::kTimestampDelta;
      store_le(field, load_le<std::uint64_t>(field) + shift);
    }
  }
  EntryHeader header;
  header.kind = EntryKind::kMessages;
  header.size = narrow<std::uint32_t>(bytes_.size());
  header.message_count = count_;
  header.messages_bytes = narrow<std::uint32_t>(messages_bytes);
  header.min_origin_timestamp = min_origin_;
  return EntryDraft::complete(header, std::move(bytes_));
}

Result<BatchView> BatchView::parse(const EntryView& entry) {
  const EntryHeader& header = entry.header();
  if (header.kind != EntryKind::kMessages)
    return fail(Errc::kBadShape, fmt::format("an entry of kind {} where a batch belongs", to_string(header.kind)));
  const Bytes frames = entry.body().first(header.messages_bytes);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < header.message_count; ++i) {
    SLUICE_TRY(const Message message, decode_message(frames.subspan(at)));
    if (message.deltas.offset != i)
      return fail(Errc::kBadShape, fmt::format("message {} of the batch says that it is number {}", i, message.deltas.offset));
    at += message.frame_bytes;
  }
  if (at != frames.size() && !SLUICE_MUTATED(kBatchTailIgnored))
    return fail(Errc::kBadShape, fmt::format("{} bytes follow the last message of the batch", frames.size() - at));
  return BatchView(header, frames, entry.body().subspan(header.messages_bytes));
}

PositionedRecord BatchView::Iterator::operator*() const {
  Message message = frame::decode_checked(batch_->frames_.data() + at_);
  message.record.origin_timestamp = origin_at(batch_->header_.min_origin_timestamp, message.deltas.timestamp);
  return {batch_->header_.base_offset + index_, batch_->header_.base_timestamp, message.record};
}

BatchView::Iterator& BatchView::Iterator::operator++() {
  at_ += frame::load_sizes(batch_->frames_.data() + at_).frame();
  ++index_;
  return *this;
}

BatchView::Iterator BatchView::from(Offset offset) const {
  Iterator at = begin();
  if (offset >= header_.next_offset) return end();
  for (Offset next = header_.base_offset; next < offset; next = next.next()) ++at;
  return at;
}

std::optional<Bytes> BatchView::source_state() const {
  if (state_.empty()) return std::nullopt;
  return state_;
}

}  // namespace sluice::entry
