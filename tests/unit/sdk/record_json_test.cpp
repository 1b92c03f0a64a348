// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <sluice/record_json.hpp>

namespace sluice {
namespace {

class RecordJson : public ::testing::Test {
 protected:
  RecordJson() {
    record_.struct_size = sizeof record_;
    record_.id_high = 0x018bd21e4c007000;
    record_.id_low = 0x80000000000000aa;
    record_.format = SLUICE_FORMAT_TEXT;
    record_.offset = 41;
    record_.timestamp_us = 1'700'000'000'000'000;
    batch_.struct_size = sizeof batch_;
    batch_.record_stride = sizeof record_;
    batch_.record_count = 1;
    batch_.cluster_id_high = 0x0123456789abcdef;
    batch_.cluster_id_low = 0xfedcba9876543210;
    batch_.stream = abi_text("logs");
    batch_.topic = abi_text("lines");
    batch_.partition = 2;
    batch_.incarnation = 17;
    batch_.records = &record_;
  }
  void set_payload(std::string_view payload) {
    record_.flags |= SLUICE_RECORD_HAS_PAYLOAD;
    record_.payload = abi_bytes(payload);
  }
  void set_key(std::string_view key) {
    record_.flags |= SLUICE_RECORD_HAS_KEY;
    record_.key = abi_bytes(key);
  }
  [[nodiscard]] std::string json() const {
    std::string out;
    const Batch batch(batch_);
    append_record_json(batch, batch[0], out);
    return out;
  }

  sluice_record record_{};
  sluice_batch batch_{};
};

TEST_F(RecordJson, IsTheExampleOfTheReferencePage) {
  const std::vector<Header> headers{{"file.path", "/var/log/app.log"}};
  record_.headers = reinterpret_cast<const sluice_header*>(headers.data());
  record_.header_count = 1;
  set_key("fd01-2c41a-1");
  set_payload("GET /index.html 200");
  EXPECT_EQ(
      json(),
      R"({"id":"0123456789abcdeffedcba9876543210:logs:lines:2:17:41","record_id":"018bd21e4c00700080000000000000aa",)"
      R"("stream":"logs","topic":"lines","partition":2,"incarnation":17,"offset":41,"timestamp_us":1700000000000000,)"
      R"("format":"text","key":"fd01-2c41a-1","headers":[{"name":"file.path","value":"/var/log/app.log"}],"payload":"GET /index.html 200"})");
}

TEST_F(RecordJson, TellsAbsentFromEmpty) {
  EXPECT_TRUE(json().ends_with(R"("format":"text","payload":null})")) << json();
  set_key("");
  set_payload("");
  EXPECT_TRUE(json().ends_with(R"("format":"text","key":"","payload":""})")) << json();
}

TEST_F(RecordJson, BytesThatAreNoTextAreBase64) {
  using namespace std::string_view_literals;
  for (const auto& [bytes, text] : {std::pair("\xff"sv, "/w=="), std::pair("\xff\x00"sv, "/wA="), std::pair("\xff\x00\x10"sv, "/wAQ")}) {
    set_payload(bytes);
    EXPECT_TRUE(json().ends_with("\"payload_base64\":\"" + std::string(text) + "\"}")) << json();
  }
}

TEST_F(RecordJson, IsOneLineWhateverIsInIt) {
  set_payload("a\nb\r\"c\"\\\x01");
  EXPECT_TRUE(json().ends_with(R"("payload":"a\nb\r\"c\"\\\u0001"})")) << json();
}

TEST_F(RecordJson, HasWhatIsOptionalOnlyIfItIsThere) {
  record_.flags |= SLUICE_RECORD_IS_PART;
  record_.part_index = 3;
  record_.origin_timestamp_us = -5;
  record_.schema_id = 9;
  record_.format = 4711;
  EXPECT_TRUE(json().ends_with(
      R"("offset":41,"part":3,"timestamp_us":1700000000000000,"origin_timestamp_us":-5,"format":"format-4711","schema_id":9,"payload":null})"))
      << json();
}

}  // namespace
}  // namespace sluice
