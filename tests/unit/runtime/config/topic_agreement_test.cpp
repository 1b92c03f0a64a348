// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "runtime/config/loader.hpp"

namespace sluice::config {
namespace {

ConnectorConfig connector(std::string key, ConnectorType type, std::uint32_t partitions) {
  ConnectorConfig out;
  out.key = std::move(key);
  out.type = type;
  StreamConfig stream;
  stream.name = {"orders", "created"};
  stream.topic.partitions = partitions;
  out.streams.push_back(stream);
  return out;
}

TEST(AgreeOnTopics, TheSourceSaysHowASharedTopicIsMade) {
  std::vector<ConnectorConfig> connectors{connector("archive", ConnectorType::kSink, 1), connector("shop", ConnectorType::kSource, 4)};
  agree_on_topics(connectors);
  EXPECT_EQ(connectors[0].streams[0].topic.partitions, 4u);
  EXPECT_EQ(connectors[1].streams[0].topic.partitions, 4u);
}

TEST(AgreeOnTopics, WithoutASourceTheFirstSinkSays) {
  std::vector<ConnectorConfig> connectors{connector("archive", ConnectorType::kSink, 3), connector("index", ConnectorType::kSink, 1)};
  agree_on_topics(connectors);
  EXPECT_EQ(connectors[0].streams[0].topic.partitions, 3u);
  EXPECT_EQ(connectors[1].streams[0].topic.partitions, 3u);
}

}  // namespace
}  // namespace sluice::config
