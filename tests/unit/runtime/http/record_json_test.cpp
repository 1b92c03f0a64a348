// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/record_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/http/base64.hpp"

namespace sluice::http {
namespace {

using testing::HasSubstr;

std::string shown(const Record& record) {
  return record_to_json(PartitionIndex(2), {.offset = Offset(7), .timestamp = TimestampUs(0), .record = record.view()});
}

TEST(RecordJson, ShowsTextAsTextAndOtherBytesAsBase64) {
  Record record;
  record.key = ByteVector{std::byte{0xff}, std::byte{0x00}};
  const Bytes text = as_bytes("gr\u00fcn\n");
  record.payload = ByteVector(text.begin(), text.end());
  const std::string line = shown(record);
  EXPECT_THAT(line, HasSubstr(R"("key_base64":"/wA=")"));
  EXPECT_THAT(line, HasSubstr("\"payload\":\"gr\u00fcn\\n\""));
  EXPECT_THAT(line, HasSubstr(R"("partition":2,"offset":7)"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(RecordJson, TellsAbsentFromEmpty) {
  Record record;
  record.key = ByteVector{};
  const std::string line = shown(record);
  EXPECT_THAT(line, HasSubstr(R"("key":"")"));
  EXPECT_THAT(line, HasSubstr(R"("payload":null)"));
}

TEST(RecordJson, TakesBackWhatItShows) {
  const auto first =
      record_from_json(R"({"key_base64":"/wA=","payload":"p","headers":[{"name":"a","value":"1"},{"name":"a","value_base64":"/w=="}],)"
                       R"("id":"000102030405060708090a0b0c0d0e0f","format":3,"schema_id":9,"origin_timestamp_us":5,"partition":1})");
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(first->partition, PartitionIndex(1));
  EXPECT_EQ(first->record.headers.view().count(), 2U);
  EXPECT_EQ(first->record.format, 3);
  const std::string line = shown(first->record);
  EXPECT_THAT(line, HasSubstr(R"("headers":[{"name":"a","value":"1"},{"name":"a","value_base64":"/w=="}])"));
  EXPECT_THAT(line, HasSubstr(R"("id":"000102030405060708090a0b0c0d0e0f","origin_timestamp_us":5,"format":3,"schema_id":9)"));
}

TEST(RecordJson, RefusesWhatItDoesNotUnderstand) {
  for (const char* line :
       {"", "[]", "{", R"({"payload":{"a":1}})", R"({"payload":1})", R"({"value":"x"})", R"({"key":"a","key_base64":"YQ=="})",
        R"({"payload_base64":"YQ"})", R"({"payload_base64":7})", R"({"partition":-1})", R"({"partition":1.5})", R"({"format":65536})",
        R"({"id":"12"})", R"({"headers":{}})", R"({"headers":[{"value":"x"}]})", R"({"headers":[{"name":"x"}]})", "{\"key\":\"\xff\"}"}) {
    EXPECT_FALSE(record_from_json(line)) << line;
  }
}

TEST(Base64, RoundTripsEveryLength) {
  ByteVector bytes;
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
    bytes.push_back(static_cast<std::byte>(i * 37));
  }
  EXPECT_EQ(base64_encode(as_bytes("foob")), "Zm9vYg==");
}

TEST(Base64, RefusesAnythingButPaddedBase64) {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zm9v\n", " Zm9v", "Zm-_", "=g==", "Zg==Zg=="})
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
}

}  // namespace
}  // namespace sluice::http
