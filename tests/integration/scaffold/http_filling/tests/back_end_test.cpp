// SPDX-License-Identifier: Apache-2.0
#include "back_end.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include <sluice/testing/loopback_server.hpp>
#include <sluice/testing/sink_driver.hpp>

#include "sink_template.hpp"

namespace sink_template {
namespace {

using sluice::Outcome;
using sluice::OutcomeClass;
using sluice::OutcomeScope;
using sluice::testing::HttpReply;
using sluice::testing::HttpSeen;
using sluice::testing::LoopbackServer;
using sluice::testing::SinkOf;
using sluice::testing::TestPartition;

class RealBackEndTest : public ::testing::Test {
 protected:
  // The health check is fine unless `health` says otherwise; records get `status`.
  void serve(int status, int health = 200) {
    server_.emplace([=](const HttpSeen& request) { return HttpReply{.status = request.target == "/health" ? health : status}; });
  }
  std::optional<Outcome> open() {
    const std::string url = server_->url("");
    return sink_->open(R"({"connection_string": ")" + url + R"(", "target": "events", "auth_token": "hush"})");
  }

  std::optional<LoopbackServer> server_;
  SinkOf<SinkTemplate> sink_;
  TestPartition part_;
};

TEST_F(RealBackEndTest, SendsRecordsWithTheirKeysAndTheToken) {
  serve(200);
  ASSERT_FALSE(open());
  ASSERT_FALSE(sink_->assign({part_}).failure);
  EXPECT_EQ(sink_->write(part_, std::vector<std::string>{"one", "two"}).durable_next, 2U);
  const std::vector<HttpSeen> seen = server_->seen();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].target, "/health");
  EXPECT_EQ(seen[0].header("authorization"), "Bearer hush");
  EXPECT_EQ(seen[1].method + " " + seen[1].target, "POST /events");
  EXPECT_NE(seen[1].body.find(":stream:topic:0:1:1\""), std::string::npos) << seen[1].body;
}

TEST_F(RealBackEndTest, WaitsForAServerThatDoesNotKnowUs) {
  serve(200, 401);
  const std::optional<Outcome> failure = open();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->scope, OutcomeScope::kConnector);
  EXPECT_EQ(failure->http_status, 401);
}

TEST_F(RealBackEndTest, TriesABusyServerAgain) {
  serve(503);
  ASSERT_FALSE(open());
  ASSERT_FALSE(sink_->assign({part_}).failure);
  const auto report = sink_->write(part_, std::vector<std::string>{"one"});
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(report.failed[0].outcome.outcome_class, OutcomeClass::kTransient);
  EXPECT_EQ(report.durable_next, 0U);
}

TEST_F(RealBackEndTest, GivesUpARecordThatIsRefusedAlone) {
  serve(422);
  ASSERT_FALSE(open());
  ASSERT_FALSE(sink_->assign({part_}).failure);
  const auto report = sink_->write(part_, std::vector<std::string>{"one", "two"});
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(report.failed[0].index, 0U);
  EXPECT_EQ(report.failed[0].outcome.outcome_class, OutcomeClass::kPermanent);
}

}  // namespace
}  // namespace sink_template
