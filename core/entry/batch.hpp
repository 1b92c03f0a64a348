// SPDX-License-Identifier: Apache-2.0
// A batch: the body of a kMessages entry. Frames, then an optional last section with the state of the source that made them.
#pragma once

#include <cstddef>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/entry/message.hpp"
#include "core/entry/record.hpp"

namespace sluice::entry {

// Encodes records straight into the bytes that will be stored. One owner, any thread; used up by finish().
class BatchBuilder {
 public:
  // `entry_bytes_max` bounds header + frames + state section.
  explicit BatchBuilder(std::size_t entry_bytes_max = kEntryBytesMax);

  // Copies the record. Errors: entry.record_too_large, entry.batch_full; the batch is unchanged then.
  [[nodiscard]] Result<void> add(const RecordView& record);
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }  // of the entry so far

  // Errors: entry.batch_empty, entry.state_too_large, entry.batch_full (no room for the state).
  [[nodiscard]] Result<EntryDraft> finish(std::optional<Bytes> source_state = std::nullopt) &&;

 private:
  std::size_t bytes_max_;
  ByteVector bytes_;
  std::uint32_t count_ = 0;
  TimestampUs first_origin_;
  TimestampUs min_origin_;
};

struct PositionedRecord {
  Offset offset;
  TimestampUs timestamp;  // of the log
  RecordView record;
};

// The messages of a verified kMessages entry. Every frame was checked by parse(), so iteration cannot fail. Views live as long as the
// entry's bytes.
class BatchView {
 public:
  class Iterator {
   public:
    Iterator(const BatchView* batch, std::size_t at, std::uint32_t index) : batch_(batch), at_(at), index_(index) {}
    [[nodiscard]] PositionedRecord operator*() const;
    Iterator& operator++();
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const BatchView* batch_;
    std::size_t at_;
    std::uint32_t index_;
  };

  // Errors: entry.bad_shape, entry.bad_record.
  [[nodiscard]] static Result<BatchView> parse(const EntryView& entry);

  [[nodiscard]] Iterator begin() const { return {this, 0, 0}; }
  [[nodiscard]] Iterator end() const { return {this, frames_.size(), header_.message_count}; }
  // From the first message at or after `offset`.
  [[nodiscard]] Iterator from(Offset offset) const;
  [[nodiscard]] std::uint32_t count() const { return header_.message_count; }
  [[nodiscard]] Offset base_offset() const { return header_.base_offset; }
  [[nodiscard]] Offset next_offset() const { return header_.next_offset; }
  [[nodiscard]] std::optional<Bytes> source_state() const;

 private:
  BatchView(const EntryHeader& header, Bytes frames, Bytes state) : header_(header), frames_(frames), state_(state) {}

  EntryHeader header_;
  Bytes frames_;
  Bytes state_;
};

}  // namespace sluice::entry
