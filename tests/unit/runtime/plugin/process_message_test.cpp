// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "runtime/isolation/message.hpp"

namespace sluice::isolation {

namespace {

sluice_text text(std::string_view of) {
  return {of.data(), of.size()};
}
sluice_bytes bytes(std::string_view of) {
  return {reinterpret_cast<const std::uint8_t*>(of.data()), of.size()};
}
std::string_view view(sluice_text of) {
  return {of.ptr, of.len};
}
std::string_view view(sluice_bytes of) {
  return {reinterpret_cast<const char*>(of.ptr), of.len};
}

// Two records; the second has everything that a record may have.
class ProcessMessage : public ::testing::Test {
 protected:
  ProcessMessage() {
    records_[0].struct_size = sizeof(sluice_record);
    records_[0].offset = 10;
    origin_ = {.struct_size = sizeof origin_,
               .partition = 3,
               .cluster_id_low = 4,
               .cluster_id_high = 5,
               .stream = text("old"),
               .topic = text("place"),
               .incarnation = 6,
               .offset = 7};
    records_[1] = {.struct_size = sizeof(sluice_record),
                   .flags = SLUICE_RECORD_HAS_KEY | SLUICE_RECORD_HAS_PAYLOAD | SLUICE_RECORD_IS_PART,
                   .format = SLUICE_FORMAT_JSON,
                   .schema_id = 8,
                   .header_count = static_cast<std::uint32_t>(headers_.size()),
                   .id_low = 1,
                   .id_high = 2,
                   .key = bytes("key"),
                   .payload = bytes("payload"),
                   .headers = headers_.data(),
                   .origin_timestamp_us = -9,
                   .offset = 12,
                   .timestamp_us = 13,
                   .part_index = 14,
                   .reserved = 0,
                   .origin = &origin_};
    batch_ = {.struct_size = sizeof batch_,
              .record_stride = sizeof(sluice_record),
              .cluster_id_low = 15,
              .cluster_id_high = 16,
              .stream = text("orders"),
              .topic = text("events"),
              .partition = 17,
              .record_count = 2,
              .incarnation = 18,
              .epoch = 19,
              .records = records_.data()};
  }
  [[nodiscard]] ByteVector encoded() const {
    ByteVector out;
    ByteWriter writer(out);
    put_batch(writer, batch_);
    return out;
  }

  std::array<sluice_header, 2> headers_{{{text("a"), bytes("1")}, {text("a"), bytes("")}}};
  sluice_origin origin_{};
  std::array<sluice_record, 2> records_{};
  sluice_batch batch_{};
};

}  // namespace

TEST_F(ProcessMessage, CarriesABatchWithAllThatItsRecordsHave) {
  const ByteVector message = encoded();
  ByteReader in(message);
  ReadBatch read;
  ASSERT_TRUE(read.read(in));
  EXPECT_TRUE(in.finished());
  const sluice_batch& batch = read.abi();
  EXPECT_EQ(view(batch.stream), "orders");
  EXPECT_EQ(view(batch.topic), "events");
  EXPECT_EQ((std::array<std::uint64_t, 5>{batch.cluster_id_low, batch.cluster_id_high, std::uint64_t{batch.partition}, batch.incarnation,
                                          batch.epoch}),
            (std::array<std::uint64_t, 5>{15, 16, 17, 18, 19}));
  ASSERT_EQ(batch.record_count, 2U);
  EXPECT_EQ(batch.records[0].offset, 10U);
  EXPECT_EQ(batch.records[0].flags, 0U);
  EXPECT_EQ(batch.records[0].origin, nullptr);
  const sluice_record& record = batch.records[1];
  EXPECT_EQ(record.flags, records_[1].flags);
  EXPECT_EQ(record.format, SLUICE_FORMAT_JSON);
  EXPECT_EQ(record.schema_id, 8U);
  EXPECT_EQ((std::array<std::uint64_t, 4>{record.id_low, record.id_high, record.offset, std::uint64_t{record.part_index}}),
            (std::array<std::uint64_t, 4>{1, 2, 12, 14}));
  EXPECT_EQ(view(record.key), "key");
  EXPECT_EQ(view(record.payload), "payload");
  EXPECT_EQ(record.origin_timestamp_us, -9);
  EXPECT_EQ(record.timestamp_us, 13);
  ASSERT_EQ(record.header_count, 2U);
  EXPECT_EQ(view(record.headers[0].name), "a");
  EXPECT_EQ(view(record.headers[0].value), "1");
  EXPECT_EQ(view(record.headers[1].value), "");
  ASSERT_NE(record.origin, nullptr);
  EXPECT_EQ(view(record.origin->stream), "old");
  EXPECT_EQ(view(record.origin->topic), "place");
  EXPECT_EQ((std::array<std::uint64_t, 5>{record.origin->cluster_id_low, record.origin->cluster_id_high,
                                          std::uint64_t{record.origin->partition}, record.origin->incarnation, record.origin->offset}),
            (std::array<std::uint64_t, 5>{4, 5, 3, 6, 7}));
}

TEST_F(ProcessMessage, IsUnreadableWhereverItIsCut) {
  const ByteVector message = encoded();
  for (std::size_t length = 0; length < message.size(); ++length) {
    ByteReader in(Bytes(message).first(length));
    ReadBatch read;
    EXPECT_FALSE(read.read(in)) << length;
  }
}

TEST_F(ProcessMessage, TakesNoMoreRoomThanItIsSaidTo) {
  for (sluice_record& record : records_) {
    record.origin = nullptr;
    ByteVector out;
    ByteWriter writer(out);
    put_record(writer, record);
    EXPECT_LE(out.size(), encoded_bytes(record));
  }
}

TEST_F(ProcessMessage, CarriesAnOutcome) {
  plugin::Outcome outcome;
  outcome.outcome_class = plugin::OutcomeClass::kAmbiguous;
  outcome.scope = plugin::Scope::kRecord;
  outcome.code = "http.status";
  outcome.text = "text";
  outcome.hint = "hint";
  outcome.pointer = "/pointer";
  outcome.http_status = 503;
  outcome.retry_after = std::chrono::milliseconds(1500);
  ByteVector out;
  ByteWriter writer(out);
  put_outcome(writer, outcome);
  ByteReader in(out);
  const auto read = get_outcome(in);
  ASSERT_TRUE(read.has_value());
  const sluice_outcome abi = abi_outcome(*read);
  EXPECT_EQ(abi.outcome_class, SLUICE_CLASS_AMBIGUOUS);
  EXPECT_EQ(abi.scope, SLUICE_SCOPE_RECORD);
  EXPECT_EQ(view(abi.code), "http.status");
  EXPECT_EQ(view(abi.text), "text");
  EXPECT_EQ(view(abi.hint), "hint");
  EXPECT_EQ(view(abi.pointer), "/pointer");
  EXPECT_EQ(abi.http_status, 503);
  EXPECT_EQ(abi.retry_after_ms, 1500);
}

// As docs/reference/plugin-process.md shows it.
TEST_F(ProcessMessage, IsLaidOutAsItsWorkedExample) {
  const auto packet = encode(CallPacket{static_cast<std::uint32_t>(CallKind::kOnResult), 1, SLUICE_NO_DEADLINE, 12});
  constexpr std::array<unsigned char, 24> kPacket{0x0a, 0,    0,    0,    1,    0, 0, 0, 0xff, 0xff, 0xff, 0xff,
                                                  0xff, 0xff, 0xff, 0xff, 0x0c, 0, 0, 0, 0,    0,    0,    0};
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(packet.data()), packet.size()),
            std::string_view(reinterpret_cast<const char*>(kPacket.data()), kPacket.size()));
  const auto decoded = decode_call(packet);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->bytes, 12U);
  EXPECT_FALSE(decode_call(Bytes(packet).first(23)).has_value());
  EXPECT_EQ(name_of(static_cast<CallKind>(decoded->kind)), "on_result");
  const auto answer = encode(AnswerPacket{10, -77, 5});
  EXPECT_EQ(decode_answer(answer).value_or(AnswerPacket{}).status, -77);
}

}  // namespace sluice::isolation
