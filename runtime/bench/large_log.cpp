// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/large_log.hpp"

#include "core/log/chain.hpp"
#include "core/log/checkpoint.hpp"
#include "core/log/frontier.hpp"
#include "core/log/index.hpp"
#include "core/storage/posix_storage.hpp"
#include "runtime/bench/log_run.hpp"

namespace sluice::bench {
namespace {

constexpr std::uint32_t kRecords = 1000;
constexpr std::uint32_t kRecordBytes = 1000;

// The segments of one log, from the first on.
class Maker {
 public:
  explicit Maker(const LargeLog& log) : log_(log), head_(log::empty_head(log.group, log.incarnation)) {}

  Result<void> begin_segment() {
    page_ = log::page_after(head_, log_.group, log_.incarnation);
    SLUICE_TRY(file_, open(log::segment_name(page_.first_op)));
    index_.clear();
    position_ = log::kSegmentPageBytes;
    return {};
  }

  Result<void> fill_with_entries(std::uint64_t bytes) {
    while (true) {
      SLUICE_TRY(entry::EntryDraft draft, make_batch(kRecords, kRecordBytes));
      if (position_ + draft.stored_bytes() > bytes) return {};
      entry::EntryStamp stamp;
      stamp.group = log_.group;
      stamp.incarnation = log_.incarnation;
      stamp.op = head_.op.next();
      stamp.parent = head_.id;
      stamp.commit = head_.op;
      stamp.base_offset = head_.next_offset;
      stamp.timestamp = head_.last_timestamp.next();
      stamp.first_of_segment = stamp.op == page_.first_op;
      const entry::SharedEntry entry = std::move(draft).stamp(stamp);
      SLUICE_CHECK(file_->write(position_, entry.view.bytes()));
      log::encode_index_entry(index_, {stamp.op, stamp.base_offset, stamp.timestamp, position_});
      position_ += entry.header().stored_bytes();
      head_ = log::head_after(entry.header());
    }
  }

  Result<void> pretend_entries() {
    const std::uint64_t ops = log_.segment_bytes / (std::uint64_t{kRecords} * kRecordBytes);
    log::encode_index_entry(index_, {page_.first_op, head_.next_offset, head_.last_timestamp.next(), position_});
    head_ = {.op = head_.op + ops,
             .id = {.low = head_.op.value(), .high = 1},
             .next_offset = head_.next_offset + ops * kRecords,
             .last_timestamp = head_.last_timestamp + static_cast<std::int64_t>(ops)};
    position_ = log_.segment_bytes;
    const std::uint64_t last_at = position_ - std::uint64_t{kRecords} * kRecordBytes;
    log::encode_index_entry(index_, {head_.op, Offset(head_.next_offset.value() - kRecords), head_.last_timestamp, last_at});
    return file_->truncate(position_);
  }

  Result<void> seal() {
    const log::Frontier seal = log::seal_of(page_.first_op, {head_, position_});
    SLUICE_CHECK(file_->write(0, log::encode_segment_page(page_)));
    for (std::size_t slot = 0; slot < log::kFrontierSlots; ++slot) {
      SLUICE_CHECK(file_->write(log::frontier_position(slot), log::encode_frontier(seal)));
    }
    return write_index();
  }

  // The active segment, after a clean end.
  Result<void> leave_open() {
    log::Frontier frontier;
    frontier.sequence = 1;
    frontier.segment = page_.first_op;
    frontier.durable = {head_, position_};
    frontier.limit = {head_.op, head_.next_offset};
    SLUICE_CHECK(file_->write(0, log::encode_first_page(page_, frontier)));
    return write_index();
  }

  [[nodiscard]] const log::LogHead& head() const { return head_; }

 private:
  Result<storage::FilePtr> open(const std::string& name) const {
    return storage::posix_storage().open(log_.directory + "/" + name, storage::OpenMode::kCreateNew);
  }
  Result<void> write_index() {
    SLUICE_TRY(const storage::FilePtr index, open(log::index_name(page_.first_op)));
    return index->write(0, index_);
  }

  LargeLog log_;
  log::LogHead head_;
  log::SegmentPage page_;
  storage::FilePtr file_;
  ByteVector index_;
  std::uint64_t position_ = 0;
};

}  // namespace

Result<Offset> make_large_log(const LargeLog& log) {
  SLUICE_CHECK(storage::posix_storage().make_directories(log.directory));
  Maker maker(log);
  for (std::uint32_t i = 0; i < log.segments; ++i) {
    SLUICE_CHECK(maker.begin_segment());
    SLUICE_CHECK(i == 0 ? maker.fill_with_entries(log.segment_bytes) : maker.pretend_entries());
    SLUICE_CHECK(maker.seal());
  }
  SLUICE_CHECK(maker.begin_segment());
  SLUICE_CHECK(maker.fill_with_entries(log.active_bytes));
  SLUICE_CHECK(maker.leave_open());
  const log::LogHead& head = maker.head();
  const ByteVector checkpoint = log::encode_checkpoint({log.group, log.incarnation, head.op, head.id, head.next_offset, {}});
  SLUICE_CHECK(storage::replace_file(storage::posix_storage(), log.directory, log::kCheckpointName, checkpoint));
  return head.next_offset;
}

}  // namespace sluice::bench
