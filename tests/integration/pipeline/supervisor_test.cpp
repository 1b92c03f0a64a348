// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/pipeline/pipeline_fixture.hpp"

namespace sluice::pipeline {
namespace {

using SupervisorPipeline = PipelineTest;

TEST_F(SupervisorPipeline, CarriesRecordsFromSourceToSinkAcrossARestart) {
  std::vector<std::string> input;
  for (int i = 0; i < 5000; ++i) input.push_back("n" + std::to_string(i));
  backend_.offer(input);
  auto in = source(3);
  auto out = sink(3);
  in.batching.records_max = 64;
  out.batching.records_max = 50;
  start({in, out});
  ASSERT_TRUE(eventually([&] { return backend_.delivered().size() > 500; }))
      << to_string(state("in")) << " " << to_string(state()) << " " << backend_.acked << " " << backend_.delivered().size();
  EXPECT_TRUE(restart({in, out}).drained);
  ASSERT_TRUE(eventually([&] { return backend_.delivered().size() >= 5000; }));
  std::multiset<std::string> delivered;
  for (const Delivered& d : backend_.delivered()) delivered.insert(d.payload);
  EXPECT_EQ(delivered, std::multiset<std::string>(input.begin(), input.end()));
  expect_audit("in");
  expect_audit("out");
}

TEST_F(SupervisorPipeline, ListsRejectedAndDisabledConnectorsToo) {
  auto disabled = sink();
  disabled.key = "resting";
  disabled.enabled = false;
  start({sink(), disabled});
  const auto all = supervisor_->list();
  ASSERT_EQ(all.size(), 2U);
  ASSERT_EQ(all[1].key, "resting");
  EXPECT_EQ(all[1].state, State::kStopped);
  EXPECT_TRUE(supervisor_->pause("resting").error().is(Errc::kDisabled));
  EXPECT_TRUE(supervisor_->status("nobody").error().is(Errc::kConnectorNotFound));
}

TEST_F(SupervisorPipeline, ABrokenDefinitionLeavesTheOthersRunning) {
  produce(0, 3);
  Supervisor::Options options;
  options.client = client_.get();
  options.load = [plugin = fake_plugin(backend_)](const std::string&) -> Result<std::shared_ptr<plugin::LoadedPlugin>> { return plugin; };
  supervisor_ = std::make_unique<Supervisor>(std::move(options));
  supervisor_->start({sink()}, {{"broken", "connectors.d/broken.toml", "connectors.d/broken.toml:3:1: unknown key \"typ\""}});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(3); }));
  EXPECT_EQ(status("broken").state, State::kError);
  EXPECT_NE(status("broken").last_error->text.find(":3:1"), std::string::npos);
  EXPECT_TRUE(supervisor_->restart("broken").error().is(Errc::kBusy));
}

TEST_F(SupervisorPipeline, ARejectedFileIsShownBesideTheConnectorWhoseKeyItsNameIs) {
  produce(0, 3);
  Supervisor::Options options;
  options.client = client_.get();
  options.load = [plugin = fake_plugin(backend_)](const std::string&) -> Result<std::shared_ptr<plugin::LoadedPlugin>> { return plugin; };
  supervisor_ = std::make_unique<Supervisor>(std::move(options));
  supervisor_->start({sink()}, {{"out", "connectors.d/out.toml", "connectors.d/out.toml:1:1: this is no TOML"}});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(3); }));
  EXPECT_EQ(state("out"), State::kRunning);
  EXPECT_TRUE(supervisor_->pause("out"));
  EXPECT_EQ(state("out.toml"), State::kError);
  EXPECT_EQ(supervisor_->list().size(), 2U);
}

TEST_F(SupervisorPipeline, AnAuditEndsWhenItIsToldTo) {
  produce(0, 5);
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(5); }));
  std::stop_source stop;
  EXPECT_TRUE(supervisor_->audit("out", stop.get_token()));
  stop.request_stop();
  const auto told = supervisor_->audit("out", stop.get_token());
  ASSERT_FALSE(told);
  EXPECT_TRUE(told.error().is(sluice::Errc::kCancelled));
}

TEST_F(SupervisorPipeline, PausedSurvivesARestartOfTheDaemon) {
  produce(0, 5);
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(5); }));
  ASSERT_TRUE(supervisor_->pause("out"));
  ASSERT_TRUE(eventually([&] { return state() == State::kPaused; }));
  produce(5, 9);
  restart({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kPaused; }));
  EXPECT_EQ(backend_.delivered().size(), 5U);
  ASSERT_TRUE(supervisor_->resume("out"));
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(9); }));
  restart({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kRunning; }));
}

TEST_F(SupervisorPipeline, RestartMakesANewInstance) {
  produce(0, 5);
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(5); }));
  ASSERT_TRUE(supervisor_->restart("out"));
  ASSERT_TRUE(eventually([&] { return backend_.opens == 2 && state() == State::kRunning; }));
  EXPECT_EQ(status().restarts, 1U);
  EXPECT_EQ(backend_.closes, 1);
  produce(5, 9);
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(9); }));
  EXPECT_EQ(backend_.delivered().size(), 9U);
}

TEST_F(SupervisorPipeline, AnErrorWaitsForARestartByHand) {
  produce(0, 5);
  failing_ = true;
  backend_.on_write = [&](const sluice_batch&) {
    WriteAnswer answer;
    if (failing_) answer.call_failure = make_outcome(SLUICE_CLASS_FATAL, SLUICE_SCOPE_CONNECTOR, "I am broken");
    return answer;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(backend_.opens, 1);
  failing_ = false;
  ASSERT_TRUE(supervisor_->restart("out"));
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(5) && state() == State::kRunning; }));
}

TEST_F(SupervisorPipeline, AMissingPluginIsLookedForAgain) {
  Supervisor::Options options;
  options.client = client_.get();
  failures_left_ = 2;
  options.load = [this, plugin = fake_plugin(backend_)](const std::string&) -> Result<std::shared_ptr<plugin::LoadedPlugin>> {
    if (failures_left_-- > 0) return fail(plugin::Errc::kNotFound, "no plugin fake in /usr/lib/sluice");
    return plugin;
  };
  supervisor_ = std::make_unique<Supervisor>(std::move(options));
  supervisor_->start({sink()}, {});
  ASSERT_TRUE(eventually([&] { return state() == State::kRunning; }));
  EXPECT_EQ(status().restarts, 2U);
}

TEST_F(SupervisorPipeline, StopLosesNothingThatIsInFlight) {
  produce(0, 2000, 0, 2);
  produce(0, 2000, 1, 2);
  backend_.on_write = [](const sluice_batch&) {
    std::this_thread::sleep_for(1ms);
    return WriteAnswer{};
  };
  auto config = sink(2);
  config.batching.records_max = 20;
  start({config});
  ASSERT_TRUE(eventually([&] { return backend_.delivered().size() > 100; }));
  EXPECT_TRUE(stop().drained);
  const std::size_t first_run = backend_.delivered().size();
  EXPECT_LT(first_run, 4000U);
  start({config});
  ASSERT_TRUE(eventually([&] { return partition(0).committed_next == Offset(2000) && partition(1).committed_next == Offset(2000); }));
  // A drained stop commits everything it delivered: nothing comes twice.
  EXPECT_EQ(backend_.delivered().size(), 4000U);
  expect_audit();
}

TEST_F(SupervisorPipeline, AHungWriteStallsVisiblyAndIsCancelledAtStop) {
  produce(0, 5);
  shutdown_deadline_ = 500ms;
  backend_.on_write = [&](const sluice_batch&) {
    backend_.hang();
    WriteAnswer answer;
    answer.call_failure = make_outcome(SLUICE_CLASS_CANCELLED, SLUICE_SCOPE_CONNECTOR, "cancelled");
    return answer;
  };
  auto config = sink();
  config.stall_after = 50ms;
  start({config});
  ASSERT_TRUE(eventually([&] { return state() == State::kStalled; }));
  const StopReport report = stop();
  EXPECT_TRUE(report.drained);
  EXPECT_TRUE(backend_.cancelled);
  EXPECT_EQ(client_->position(topic().partitions[0].ref, "out")->value().committed_next, Offset(0));
}

TEST_F(SupervisorPipeline, ASinkThatIgnoresCancelIsAbandonedByName) {
  produce(0, 5);
  shutdown_deadline_ = 300ms;
  backend_.ignore_cancel = true;
  backend_.on_write = [&](const sluice_batch&) {
    backend_.hang();
    WriteAnswer nothing;  // whoever was given up comes back when the backend may be gone
    nothing.accepted_next = 0;
    return nothing;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return backend_.hanging.load(); }));
  const auto began = std::chrono::steady_clock::now();
  const StopReport report = stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
  EXPECT_FALSE(report.drained);
  EXPECT_EQ(report.abandoned, std::vector<std::string>{"out"});
  // Its call returns after all: the thread ends there and touches nothing.
  backend_.release();
  while (backend_.hanging) std::this_thread::sleep_for(1ms);
}

TEST_F(SupervisorPipeline, ARestartOfAHungConnectorGivesItUp) {
  produce(0, 5);
  shutdown_deadline_ = 300ms;
  backend_.ignore_cancel = true;
  backend_.on_write = [&](const sluice_batch&) {
    backend_.hang();
    WriteAnswer nothing;  // whoever was given up comes back when the backend may be gone
    nothing.accepted_next = 0;
    return nothing;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return backend_.hanging.load(); }));
  ASSERT_TRUE(supervisor_->restart("out"));
  EXPECT_TRUE(supervisor_->restart("out").error().is(Errc::kBusy));
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  EXPECT_EQ(status().last_error->code, "pipeline.abandoned");
  EXPECT_TRUE(supervisor_->restart("out").error().is(Errc::kAbandoned));
  EXPECT_EQ(stop().abandoned, std::vector<std::string>{"out"});
  backend_.release();
  while (backend_.hanging) std::this_thread::sleep_for(1ms);
}

}  // namespace
}  // namespace sluice::pipeline
