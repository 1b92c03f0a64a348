// SPDX-License-Identifier: Apache-2.0
#include "core/entry/batch.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "core/base/checksum.hpp"
#include "core/base/random.hpp"

namespace sluice::entry {
namespace {

EntryStamp stamp_at(Offset base_offset) {
  return {.group = GroupId{1},
          .incarnation = Incarnation{2},
          .op = Op{3},
          .parent = U128{},
          .commit = Op{2},
          .view = View{0},
          .base_offset = base_offset,
          .timestamp = TimestampUs{50}};
}

RecordView text_record(std::string_view payload, std::int64_t origin = 0) {
  RecordView out;
  out.payload = as_bytes(payload);
  out.origin_timestamp = TimestampUs{origin};
  return out;
}

TEST(Batch, GivesBackWhatWasPutIn) {
  SeededRandom random(4711);
  std::vector<Record> records;
  for (int i = 0; i < 200; ++i) {
    Record record;
    record.id = random.next_u128();
    if (random.below(3) != 0) record.key.emplace(random.below(20), std::byte{1});
    if (random.below(5) != 0) record.payload.emplace(random.below(300), static_cast<std::byte>(i));
    record.origin_timestamp = TimestampUs{static_cast<std::int64_t>(random.below(1000)) - 500};
    for (std::uint64_t h = random.below(4); h > 0; --h) ASSERT_TRUE(record.headers.add("h" + std::to_string(h), as_bytes("v")).has_value());
    record.format = static_cast<std::uint16_t>(random.next());
    record.schema_id = static_cast<std::uint32_t>(random.next());
    records.push_back(std::move(record));
  }
  BatchBuilder builder;
  for (const Record& record : records) ASSERT_TRUE(builder.add(record.view()).has_value());
  auto draft = std::move(builder).finish(as_bytes("state"));
  ASSERT_TRUE(draft.has_value()) << draft.error().to_string();
  const SharedEntry shared = std::move(*draft).stamp(stamp_at(Offset{1000}));
  const auto view = EntryView::verify(shared.view.bytes());
  ASSERT_TRUE(view.has_value()) << view.error().to_string();
  const auto batch = BatchView::parse(*view);
  ASSERT_TRUE(batch.has_value()) << batch.error().to_string();
  EXPECT_EQ(as_text(batch->source_state().value()), "state");
  EXPECT_EQ(batch->next_offset(), Offset{1200});
  std::size_t i = 0;
  for (const PositionedRecord& got : *batch) {
    const Record& want = records.at(i);
    EXPECT_EQ(got.offset, Offset{1000 + i});
    EXPECT_EQ(got.timestamp, TimestampUs{50});
    EXPECT_EQ(got.record.id, want.id);
    EXPECT_EQ(got.record.origin_timestamp, want.origin_timestamp);
    EXPECT_EQ(got.record.key.has_value(), want.key.has_value());
    EXPECT_EQ(got.record.payload.has_value(), want.payload.has_value());
    EXPECT_EQ(Record::copy_of(got.record).key, want.key);
    EXPECT_EQ(Record::copy_of(got.record).payload, want.payload);
    EXPECT_EQ(as_text(got.record.headers.encoded()), as_text(want.headers.view().encoded()));
    EXPECT_EQ(got.record.format, want.format);
    EXPECT_EQ(got.record.schema_id, want.schema_id);
    ++i;
  }
  EXPECT_EQ(i, 200U);
  EXPECT_EQ((*batch->from(Offset{1150})).record.id, records[150].id);
  EXPECT_EQ(batch->from(Offset{0}), batch->begin());
  EXPECT_EQ(batch->from(Offset{1200}), batch->end());
}

TEST(Batch, HoldsTheExtremesOfTime) {
  BatchBuilder builder;
  for (const std::int64_t at : {std::numeric_limits<std::int64_t>::max(), std::int64_t{0}, std::numeric_limits<std::int64_t>::min()}) {
    ASSERT_TRUE(builder.add(text_record("x", at)).has_value());
  }
  auto draft = std::move(builder).finish();
  ASSERT_TRUE(draft.has_value());
  const SharedEntry shared = std::move(*draft).stamp(stamp_at(Offset{0}));
  EXPECT_EQ(shared.header().min_origin_timestamp, TimestampUs{std::numeric_limits<std::int64_t>::min()});
  const auto batch = BatchView::parse(shared.view);
  std::vector<std::int64_t> times;
  for (const PositionedRecord& record : *batch) times.push_back(record.record.origin_timestamp.value());
  EXPECT_EQ(times, (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), 0, std::numeric_limits<std::int64_t>::min()}));
}

TEST(BatchBuilder, IsFullAtItsLimitButTakesOneRecordOfAnySize) {
  BatchBuilder builder(kEntryHeaderBytes + 2 * (kMessageHeaderBytes + 10));
  const std::string ten(10, 'x');
  ASSERT_TRUE(builder.add(text_record(ten)).has_value());
  ASSERT_TRUE(builder.add(text_record(ten)).has_value());
  EXPECT_EQ(builder.add(text_record("")).error().code(), "entry.batch_full");
  EXPECT_EQ(builder.count(), 2U);
  BatchBuilder one(1);
  EXPECT_TRUE(one.add(text_record(ten)).has_value());
}

TEST(BatchBuilder, RefusesARecordBeyondTheLimit) {
  BatchBuilder builder;
  const std::string large(kRecordBytesMax, 'x');
  EXPECT_TRUE(builder.add(text_record(large)).has_value());
  RecordView record = text_record(large);
  record.key = as_bytes("k");
  EXPECT_EQ(builder.add(record).error().code(), "entry.record_too_large");
  EXPECT_EQ(builder.count(), 1U);
}

TEST(BatchBuilder, RefusesAnEmptyBatchAndAnEmptyOrOverLongState) {
  EXPECT_EQ(BatchBuilder().finish().error().code(), "entry.batch_empty");
  BatchBuilder builder;
  ASSERT_TRUE(builder.add(text_record("x")).has_value());
  BatchBuilder other = builder;
  EXPECT_EQ(std::move(other).finish(Bytes{}).error().code(), "entry.state_too_large");
  const ByteVector large(kStateSectionBytesMax + 1);
  EXPECT_EQ(std::move(builder).finish(Bytes(large)).error().code(), "entry.state_too_large");
}

// Frames that lie, under a checksum that holds.
TEST(BatchView, RefusesFramesThatDoNotTileTheBatch) {
  BatchBuilder builder;
  RecordView record = text_record("payload");
  record.key = as_bytes("key");
  Headers headers;
  ASSERT_TRUE(headers.add("n", as_bytes("v")).has_value());
  record.headers = headers.view();
  ASSERT_TRUE(builder.add(record).has_value());
  ASSERT_TRUE(builder.add(record).has_value());
  auto draft = std::move(builder).finish();
  ASSERT_TRUE(draft.has_value());
  const SharedEntry shared = std::move(*draft).stamp(stamp_at(Offset{0}));
  constexpr std::size_t kSecond = kMessageHeaderBytes + 3 + 7 + 8;  // where the second frame begins; key, payload, headers of the first
  struct Lie {
    std::size_t at;
    int value;
  };
  for (const Lie lie : {Lie{0, 1}, Lie{32, 4}, Lie{32, 255}, Lie{35, 1}, Lie{36, 8}, Lie{40, 9}, Lie{40, 0}, Lie{46, 0}, Lie{46, 2},
                        Lie{46, 7}, Lie{47, 1}, Lie{kSecond + 40, 0}}) {
    ByteVector bytes(shared.view.bytes().begin(), shared.view.bytes().end());
    bytes[kEntryHeaderBytes + lie.at] = static_cast<std::byte>(lie.value);
    const U128 body = xxh3_128(Bytes(bytes).subspan(kEntryHeaderBytes, shared.header().size - kEntryHeaderBytes));
    store_le(bytes.data() + 16, body.low);
    store_le(bytes.data() + 24, body.high);
    const U128 identity = xxh3_128(Bytes(bytes).subspan(16, kEntryHeaderBytes - 16));
    store_le(bytes.data(), identity.low);
    store_le(bytes.data() + 8, identity.high);
    const auto view = EntryView::verify(bytes);
    ASSERT_TRUE(view.has_value()) << view.error().to_string();
    EXPECT_FALSE(BatchView::parse(*view).has_value()) << "byte " << lie.at << " = " << lie.value;
  }
}

}  // namespace
}  // namespace sluice::entry
