// SPDX-License-Identifier: Apache-2.0
#include "null_sink.hpp"

#include <gtest/gtest.h>

#include <sluice/testing/sink_driver.hpp>

namespace sluice::null_sink {
namespace {

TEST(NullSink, DeliversEveryBatchAtOnce) {
  testing::SinkOf<NullSink> sink;
  const testing::TestPartition part{.committed_next = 5};
  ASSERT_FALSE(sink->open());
  ASSERT_FALSE(sink->assign({part}).failure);
  const auto report = sink->write(part, {"a", "b", "c"});
  EXPECT_FALSE(report.failure);
  EXPECT_TRUE(report.failed.empty());
  EXPECT_EQ(report.accepted_next, 8U);
  EXPECT_EQ(report.durable_next, 8U);
  EXPECT_FALSE(sink->flush());
  EXPECT_FALSE(sink->revoke({part}));
  EXPECT_FALSE(sink->close());
}

TEST(NullSink, HasNoConfiguration) {
  testing::SinkOf<NullSink> sink;
  EXPECT_EQ(sink->open(R"({"rate": 1})")->pointer, "/rate");
}

}  // namespace
}  // namespace sluice::null_sink
