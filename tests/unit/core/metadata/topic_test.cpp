// SPDX-License-Identifier: Apache-2.0
#include "core/metadata/topic.hpp"

#include <gtest/gtest.h>

#include "core/metadata/errc.hpp"

namespace sluice::metadata {
namespace {

TEST(TopicName, TakesStreamSlashTopic) {
  const auto name = parse_topic_name("main/orders.v1-x_9");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(*name, (TopicName{"main", "orders.v1-x_9"}));
  EXPECT_EQ(to_string(*name), "main/orders.v1-x_9");
}

TEST(TopicName, RefusesWhatIsNotAName) {
  const std::string longest(kNamePartMax, 'a');
  EXPECT_TRUE(parse_topic_name(longest + "/" + longest).has_value());
  for (const std::string& text :
       {std::string("orders"), std::string("/t"), std::string("s/"), std::string("s/../x"), std::string("s/t/u"), std::string("-s/t"),
        std::string("s/.."), std::string("s/a b"), std::string("s/\xc3\xa4"), "s/a" + longest, std::string("s/t\0x", 5)}) {
    const auto refused = parse_topic_name(text);
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_TRUE(refused.error().is(Errc::kInvalidName));
  }
}

TEST(TopicOptions, RefusesValuesOutOfRangeNamingThem) {
  EXPECT_TRUE(validate(TopicOptions{}).has_value());
  const std::pair<TopicOptions, const char*> bad[] = {
      {{.partitions = 0}, "partitions"},
      {{.partitions = kPartitionsMax + 1}, "partitions"},
      {{.flush_interval = std::chrono::milliseconds(0)}, "flush_interval"},
      {{.segment_bytes = kSegmentBytesMin - 1}, "segment_bytes"},
      {{.segment_bytes = kSegmentBytesMax + 1}, "segment_bytes"},
      {{.retention = {.bytes = 0}}, "retention"},
      {{.retention = {.bytes = 10, .hard_bytes = 9}}, "hard_bytes"},
      {{.retention = {.age = std::chrono::milliseconds(999)}}, "retention age"},
      {{.retention = {.age = kRetentionAgeMax + std::chrono::milliseconds(1)}}, "retention age"},
  };
  for (const auto& [options, word] : bad) {
    const auto refused = validate(options);
    ASSERT_FALSE(refused.has_value()) << word;
    EXPECT_TRUE(refused.error().is(Errc::kInvalidOption));
    EXPECT_NE(refused.error().message().find(word), std::string::npos) << refused.error().message();
  }
}

TEST(ConnectorKey, IsLowerCaseWords) {
  EXPECT_TRUE(validate_connector_key("orders_to_http2").has_value());
  for (const std::string& key :
       {std::string(), std::string("Orders"), std::string("2x"), std::string("a-b"), std::string(kConnectorKeyMax + 1, 'a')}) {
    EXPECT_FALSE(validate_connector_key(key).has_value()) << key;
  }
}

}  // namespace
}  // namespace sluice::metadata
