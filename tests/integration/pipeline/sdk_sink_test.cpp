// SPDX-License-Identifier: Apache-2.0
// A sink of the SDK, in its own library, under the worker.
#include "runtime/plugin/open_plugin.hpp"
#include "tests/integration/pipeline/pipeline_fixture.hpp"

namespace sluice::pipeline {
namespace {

class SdkSink : public PipelineTest, public testing::WithParamInterface<config::Ordering> {};

TEST_P(SdkSink, DeliversRecordsAgainThatOthersHavePassed) {
  auto opened = plugin::open_plugin(SLUICE_SECOND_CHANCE_PLUGIN, "second_chance");
  ASSERT_TRUE(opened) << opened.error().to_string();
  plugin_ = std::make_shared<plugin::LoadedPlugin>(*std::move(opened));
  produce(0, 100);
  auto config = sink();
  config.connector = "second_chance_sink";
  config.ordering = GetParam();
  start({config});
  EXPECT_TRUE(eventually([&] { return partition().committed_next == Offset(100); }))
      << (status().last_error ? status().last_error->text : "no error");
  EXPECT_EQ(partition().accounting, (client::Accounting{.delivered = 100}));
  EXPECT_EQ(status().retries, 10U);
  EXPECT_EQ(state(), State::kRunning);
  expect_audit();
}

INSTANTIATE_TEST_SUITE_P(Orderings, SdkSink, testing::Values(config::Ordering::kNone, config::Ordering::kKey));

}  // namespace
}  // namespace sluice::pipeline
