// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/status_json.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace sluice::http {
namespace {

pipeline::ConnectorStatus sink_in(pipeline::State state) {
  pipeline::ConnectorStatus status;
  status.key = "out";
  status.type = config::ConnectorType::kSink;
  status.plugin = "http_sink";
  status.state = state;
  status.last_error = pipeline::Problem{"transient", "connector", "http.status", "401", "correct the token", 401, TimestampUs(1)};
  return status;
}

std::string hint_in(pipeline::State state) {
  return std::string(why_json(sink_in(state), TimestampUs(2)).at("hint").as_string());
}

TEST(WhyJson, HasTheHintOfTheErrorWhileItHoldsTheConnectorBack) {
  for (const pipeline::State state :
       {pipeline::State::kRetrying, pipeline::State::kConnecting, pipeline::State::kStalled, pipeline::State::kError}) {
    EXPECT_EQ(hint_in(state), "correct the token") << pipeline::to_string(state);
  }
}

TEST(WhyJson, DoesNotAdviseAgainstAnErrorThatIsOver) {
  EXPECT_EQ(hint_in(pipeline::State::kRunning), "");
  EXPECT_EQ(hint_in(pipeline::State::kPaused), "It was paused by an operator: `sluice connector resume out` goes on where it stopped.");
}

}  // namespace
}  // namespace sluice::http
