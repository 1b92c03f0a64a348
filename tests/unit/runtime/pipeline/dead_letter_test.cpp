// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/dead_letter.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/checksum.hpp"
#include "core/entry/limits.hpp"

namespace sluice::pipeline {
namespace {

ByteVector bytes(std::string_view text) {
  const Bytes view = as_bytes(text);
  return {view.begin(), view.end()};
}

Record order() {
  Record record;
  record.id = {7, 9};
  record.key = bytes("k");
  record.payload = bytes(R"({"id": 7})");
  record.origin_timestamp = TimestampUs(123);
  record.format = 1;
  record.schema_id = 4;
  EXPECT_TRUE(record.headers.add("traceparent", as_bytes("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")));
  return record;
}

DeadLetterReason reason() {
  DeadLetterReason why;
  why.connector = "orders_http";
  why.plugin_version = "0.1.0";
  why.outcome_class = "permanent";
  why.scope = "record";
  why.code = "http.status";
  why.text = "POST /orders answered 422";
  why.http_status = 422;
  why.failed_at = TimestampUs(1'700'000'001'000'000);
  why.source = {{1, 2}, {"orders", "created"}, PartitionIndex(2), Incarnation(5), Offset(1042)};
  why.source_timestamp = TimestampUs(1'700'000'000'000'000);
  return why;
}

bool same(const std::optional<Bytes>& a, const std::optional<ByteVector>& b) {
  return a.has_value() == b.has_value() && (!a || std::ranges::equal(*a, *b));
}

TEST(DeadLetter, KeepsTheWholeRecordAndTheReason) {
  const Record stored = encode_dead_letter(order().view(), reason());
  const auto letter = decode_dead_letter(stored.view());
  ASSERT_TRUE(letter) << letter.error().to_string();
  const Record original = order();
  EXPECT_EQ(letter->record.id, original.id);
  EXPECT_TRUE(same(letter->record.key, original.key));
  EXPECT_TRUE(same(letter->record.payload, original.payload));
  EXPECT_EQ(letter->record.origin_timestamp, original.origin_timestamp);
  EXPECT_EQ(letter->record.format, 1);
  EXPECT_EQ(letter->record.schema_id, 4U);
  EXPECT_TRUE(std::ranges::equal(letter->record.headers.encoded(), original.headers.view().encoded()));
  EXPECT_EQ(letter->reason.source, reason().source);
  EXPECT_EQ(letter->reason.text, reason().text);
  EXPECT_EQ(letter->reason.http_status, 422);
  EXPECT_EQ(letter->reason.attempts, 1U);
  EXPECT_EQ(letter->reason.failed_at, reason().failed_at);
  EXPECT_EQ(letter->reason.source_timestamp, reason().source_timestamp);
  EXPECT_TRUE(letter->cuts.empty());
}

TEST(DeadLetter, AbsentIsNotEmpty) {
  Record tombstone;
  tombstone.key = ByteVector{};
  const auto letter = decode_dead_letter(encode_dead_letter(tombstone.view(), reason()).view());
  ASSERT_TRUE(letter);
  ASSERT_TRUE(letter->record.key);
  EXPECT_TRUE(letter->record.key->empty());
  EXPECT_FALSE(letter->record.payload);
  EXPECT_TRUE(letter->record.headers.empty());
}

TEST(DeadLetter, TakesOffOnlyItsOwnHeaders) {
  // A dead letter that fails in a connector which reads the dead letter topic.
  const Record inner = encode_dead_letter(order().view(), reason());
  DeadLetterReason outer = reason();
  outer.connector = "watcher";
  const Record stored = encode_dead_letter(inner.view(), outer);
  const auto letter = decode_dead_letter(stored.view());
  ASSERT_TRUE(letter) << letter.error().to_string();
  EXPECT_EQ(letter->reason.connector, "watcher");
  EXPECT_TRUE(std::ranges::equal(letter->record.headers.encoded(), inner.headers.view().encoded()));
}

TEST(DeadLetter, CutsAPayloadThatDoesNotFitAndSaysSo) {
  Record large = order();
  large.payload = ByteVector(entry::kRecordBytesMax - 1000, std::byte{'x'});
  const Record stored = encode_dead_letter(large.view(), reason());
  const std::size_t total = stored.key->size() + stored.payload->size() + stored.headers.view().encoded().size();
  EXPECT_LE(total, entry::kRecordBytesMax);
  EXPECT_GT(total, entry::kRecordBytesMax - 4096);
  const auto letter = decode_dead_letter(stored.view());
  ASSERT_TRUE(letter);
  ASSERT_EQ(letter->cuts.size(), 1U);
  EXPECT_EQ(letter->cuts[0], (DeadLetterCut{"payload", large.payload->size(), xxh3_128(*large.payload)}));
}

TEST(DeadLetter, CutsEverythingOfARecordThatWasNeverAllowed) {
  Record monster = order();
  monster.payload = ByteVector(2 * entry::kRecordBytesMax, std::byte{1});
  monster.key = ByteVector(2 * entry::kRecordBytesMax, std::byte{2});
  const Record stored = encode_dead_letter(monster.view(), reason());
  EXPECT_LE(stored.key->size() + stored.payload->size() + stored.headers.view().encoded().size(), entry::kRecordBytesMax);
  const auto letter = decode_dead_letter(stored.view());
  ASSERT_TRUE(letter);
  EXPECT_EQ(letter->cuts.size(), 3U);
}

TEST(DeadLetter, FindsRoomWhenARecordHasTheMostHeaders) {
  Record record;
  for (std::size_t i = 0; i < entry::kHeadersMax; ++i) ASSERT_TRUE(record.headers.add("h", as_bytes("v")));
  const auto letter = decode_dead_letter(encode_dead_letter(record.view(), reason()).view());
  ASSERT_TRUE(letter);
  ASSERT_EQ(letter->cuts.size(), 1U);
  EXPECT_EQ(letter->cuts[0].part, "headers");
}

TEST(DeadLetter, OfASourceHasNoOffset) {
  DeadLetterReason why = reason();
  why.from_sink = false;
  const auto letter = decode_dead_letter(encode_dead_letter(order().view(), why).view());
  ASSERT_TRUE(letter);
  EXPECT_FALSE(letter->reason.from_sink);
  EXPECT_EQ(letter->reason.source.topic, why.source.topic);
  EXPECT_EQ(letter->reason.source.offset, Offset(0));
}

TEST(DeadLetter, RefusesWhatIsNoDeadLetter) {
  EXPECT_FALSE(decode_dead_letter(order().view()));
  EXPECT_FALSE(decode_dead_letter(RecordView{}));
  Record liar;
  ASSERT_TRUE(liar.headers.add("sluice.dlq.headers", as_bytes("5")));
  EXPECT_FALSE(decode_dead_letter(liar.view()));
  Record later;
  ASSERT_TRUE(later.headers.add("sluice.dlq.version", as_bytes("2")));
  ASSERT_TRUE(later.headers.add("sluice.dlq.headers", as_bytes("2")));
  const auto refused = decode_dead_letter(later.view());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("version \"2\""), std::string::npos);
}

// The example of docs/reference/dead-letters.md, header by header.
TEST(DeadLetter, IsWrittenAsTheReferenceShows) {
  // The tests run somewhere below the source tree.
  std::filesystem::path root = std::filesystem::current_path();
  while (!std::filesystem::exists(root / "docs/reference/dead-letters.md") && root.has_relative_path()) root = root.parent_path();
  std::ifstream file(root / "docs/reference/dead-letters.md");
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  const Record stored = encode_dead_letter(order().view(), reason());
  for (const HeaderView header : stored.headers.view()) {
    const std::string line = fmt::format("{:<25} {}\n", header.name, as_text(header.value));
    const std::string plain = header.name == "traceparent" ? fmt::format("{:<20} {}\n", header.name, as_text(header.value)) : line;
    EXPECT_NE(text.str().find(plain), std::string::npos) << plain;
  }
  EXPECT_NE(text.str().find("00000000000000020000000000000001:orders:created:2:5:1042"), std::string::npos);
}

}  // namespace
}  // namespace sluice::pipeline
