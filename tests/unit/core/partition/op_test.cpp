// SPDX-License-Identifier: Apache-2.0
#include "core/partition/op.hpp"

#include <gtest/gtest.h>

#include "core/partition/errc.hpp"

namespace sluice::partition {
namespace {

std::string op_hex(Bytes bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) out += fmt::format("{}{:02x}", i == 0 ? "" : " ", static_cast<unsigned>(bytes[i]));
  return out;
}

const std::vector<PartitionOp> kEveryOp{
    BeginAssignment{"orders", Offset(7)},
    CommitOffset{"orders", Epoch(3), Offset(21), {1, 2, 3, 4, 5, 6}},
    BeginSource{"files"},
    Trim{Offset(9)},
    StateEnvelope{Epoch(2), {.connector = "files", .sequence = 3, .bytes = {std::byte{4}}}},
};

// The worked example of docs/reference/partition-format.md.
TEST(PartitionOp, CommitOffsetHasTheDocumentedBytes) {
  const CommitOffset commit{"g", Epoch(2), Offset(300), {.delivered = 298, .dead_lettered = 2}};
  EXPECT_EQ(op_hex(encode(PartitionOp(commit))),
            "01 00 02 00 01 00 00 00 67 02 00 00 00 00 00 00 00 2c 01 00 00 00 00 00 00 2a 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
            "00 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
}

TEST(PartitionOp, RoundTripsEveryKind) {
  for (const PartitionOp& op : kEveryOp) {
    const auto back = decode_op(encode(op));
    ASSERT_TRUE(back.has_value()) << back.error().to_string();
    EXPECT_EQ(*back, op);
  }
}

TEST(PartitionOp, RefusesEveryTruncationAndAnExtraByte) {
  for (const PartitionOp& op : kEveryOp) {
    ByteVector whole = encode(op);
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode_op(Bytes(whole).first(size)).has_value()) << size;
    whole.push_back(std::byte{0});
    EXPECT_FALSE(decode_op(whole).has_value());
  }
}

TEST(PartitionOp, RefusesANewerVersionNamingBoth) {
  ByteVector bytes = encode(kEveryOp.front());
  store_le<std::uint16_t>(bytes.data(), 4);
  const auto refused = decode_op(bytes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kTooNew));
  EXPECT_NE(refused.error().message().find("version 4"), std::string::npos);
  EXPECT_NE(refused.error().message().find("up to 1"), std::string::npos);
}

TEST(StateEnvelope, RoundTripsAndRefusesEveryTruncation) {
  const StateEnvelope envelope{Epoch(5),
                               {.connector = "files",
                                .state_version = 2,
                                .writer_version = "1.4.0",
                                .sequence = 99,
                                .accounting = {.delivered = 7, .skipped = 1},
                                .in = 8,
                                .bytes = {std::byte{1}, std::byte{2}}}};
  const ByteVector whole = encode_envelope(envelope);
  const auto back = decode_envelope(whole);
  ASSERT_TRUE(back.has_value()) << back.error().to_string();
  EXPECT_EQ(*back, envelope);
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode_envelope(Bytes(whole).first(size)).has_value()) << size;
}

TEST(StateEnvelope, StateBeyondItsLimitIsRefusedWithBothSizes) {
  const SourceState state{.connector = "files", .bytes = ByteVector(kSourceStateBytesMax + 1)};
  const auto refused = validate(state);
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kStateTooLarge));
  EXPECT_NE(refused.error().message().find("1048577"), std::string::npos);
  EXPECT_NE(refused.error().message().find("1048576"), std::string::npos);
}

}  // namespace
}  // namespace sluice::partition
