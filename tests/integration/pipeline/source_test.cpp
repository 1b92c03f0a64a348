// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/entry/limits.hpp"
#include "runtime/pipeline/dead_letter.hpp"
#include "tests/integration/pipeline/pipeline_fixture.hpp"

namespace sluice::pipeline {
namespace {

using SourcePipeline = PipelineTest;

std::vector<std::string> lines(std::uint64_t from, std::uint64_t to) {
  std::vector<std::string> out;
  for (; from < to; ++from) out.push_back(fmt::format("line {}", from));
  return out;
}

TEST_F(SourcePipeline, AppendsEveryRecordAndItsStateWithIt) {
  backend_.offer(lines(0, 2500));
  start({source()});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 2500; }));
  EXPECT_EQ(payloads(), lines(0, 2500));
  ASSERT_TRUE(eventually([&] { return status("in").source->appended == 2500; }));
  const auto state = supervisor_->source_state("in");
  ASSERT_TRUE(state && *state);
  EXPECT_EQ(as_text((*state)->bytes), "2500");
  EXPECT_EQ((*state)->in, 2500U);
  EXPECT_EQ((*state)->writer_version, "1.0");
  EXPECT_EQ(status("in").state, State::kRunning);
  expect_audit("in");
}

TEST_F(SourcePipeline, ResumesFromItsStateAndRepeatsNothing) {
  backend_.offer(lines(0, 100));
  start({source()});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 100; }));
  EXPECT_TRUE(restart({source()}).drained);
  backend_.offer(lines(100, 150));
  ASSERT_TRUE(eventually([&] { return backend_.acked == 150; }));
  EXPECT_EQ(backend_.restored_at(), 100U);
  EXPECT_EQ(payloads(), lines(0, 150));
  expect_audit("in");
}

TEST_F(SourcePipeline, SpreadsKeylessBatchesInTurn) {
  auto config = source(4);
  config.batching.records_max = 10;
  backend_.offer(lines(0, 80));
  start({config});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 80; }));
  for (const client::PartitionInfo& partition : topic().partitions) EXPECT_EQ(partition.next_offset, Offset(20));
}

TEST_F(SourcePipeline, KeepsRecordsOfAKeyInOnePartitionInOrder) {
  std::vector<std::pair<std::string, std::string>> records;
  for (int i = 0; i < 400; ++i) records.emplace_back(fmt::format("key{}", i % 13), fmt::format("{}", i));
  backend_.offer_keyed(records);
  auto config = source(4);
  config.batching.records_max = 50;
  start({config});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 400; }));
  std::map<std::string, std::uint32_t> home;
  std::map<std::string, int> last;
  std::size_t total = 0;
  for (const client::PartitionInfo& partition : topic().partitions) {
    const auto read = client_->read(partition.ref, {.from = Offset(0)});
    ASSERT_TRUE(read);
    for (const client::LogRecord& record : read->records) {
      const std::string key(as_text(*record.record.key));
      const int value = std::stoi(std::string(as_text(*record.record.payload)));
      EXPECT_EQ(home.try_emplace(key, partition.index.value()).first->second, partition.index.value());
      if (last.contains(key)) {
        EXPECT_LT(last[key], value);
      }
      last[key] = value;
      ++total;
    }
  }
  EXPECT_EQ(total, 400U);
  expect_audit("in");
}

TEST_F(SourcePipeline, TheNewestStateOfAllPartitionsWins) {
  auto config = source(3);
  config.batching.records_max = 7;
  backend_.offer(lines(0, 100));
  start({config});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 100; }));
  restart({config});
  ASSERT_TRUE(eventually([&] { return backend_.restored_at().has_value(); }));
  EXPECT_EQ(backend_.restored_at(), 100U);
}

TEST_F(SourcePipeline, AStateWithoutRecordsIsKeptToo) {
  backend_.on_idle = [] { return "77"; };
  start({source(2)});
  ASSERT_TRUE(eventually([&] { return backend_.polls >= 3; }));
  const auto state = supervisor_->source_state("in");
  ASSERT_TRUE(state && *state);
  EXPECT_EQ(as_text((*state)->bytes), "77");
  // It was the same at each poll, and was written once.
  EXPECT_EQ((*state)->sequence, 1U);
  EXPECT_TRUE(payloads().empty());
  restart({source(2)});
  ASSERT_TRUE(eventually([&] { return backend_.restored_at().has_value(); }));
  EXPECT_EQ(backend_.restored_at(), 77U);
}

TEST_F(SourcePipeline, RecordsGetIds) {
  backend_.offer(lines(0, 10));
  start({source()});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 10; }));
  const auto read = client_->read(topic().partitions[0].ref, {.from = Offset(0)});
  ASSERT_TRUE(read);
  std::vector<U128> ids;
  for (const client::LogRecord& record : read->records) ids.push_back(record.record.id);
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  EXPECT_NE(ids.front(), U128{});
}

TEST_F(SourcePipeline, ARecordThatIsTooLargeDoesNotTakeItsBatchAlong) {
  auto config = source();
  config.record_bytes_max = 1000;
  backend_.offer({"a", std::string(5000, 'x'), "b"});
  start({config});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 3; }));
  EXPECT_EQ(payloads(), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(eventually([&] { return status("in").source->dead_lettered == 1; }));
  const auto letters = payloads(dead_letter_topic("in"));
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_EQ(letters[0], std::string(5000, 'x'));
  expect_audit("in");
}

TEST_F(SourcePipeline, ARecordThatIsTooLargeMayBeSkipped) {
  auto config = source();
  config.record_bytes_max = 1000;
  config.failure.record = config::Disposition::kSkip;
  backend_.offer({"a", std::string(5000, 'x'), "b"});
  start({config});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 3; }));
  ASSERT_TRUE(eventually([&] { return status("in").source->skipped == 1; }));
  EXPECT_EQ(status("in").source->in, 3U);
}

TEST_F(SourcePipeline, ARecordThatIsTooLargeMayStopTheConnector) {
  auto config = source();
  config.record_bytes_max = 1000;
  config.failure.record = config::Disposition::kStop;
  backend_.offer({"a", std::string(5000, 'x'), "b"});
  start({config});
  ASSERT_TRUE(eventually([&] { return status("in").state == State::kError; }));
  EXPECT_EQ(backend_.acked, 0U);
  EXPECT_TRUE(payloads().empty());
}

TEST_F(SourcePipeline, PollErrorsBackOffAndShow) {
  failures_left_ = 4;
  backend_.on_poll = [&]() -> std::optional<sluice_outcome> {
    if (failures_left_-- > 0) return make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "origin is away");
    return std::nullopt;
  };
  backend_.offer(lines(0, 3));
  start({source()});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 3; }));
  EXPECT_EQ(status("in").last_error->text, "origin is away");
  EXPECT_GE(status("in").retries, 4U);
  ASSERT_TRUE(eventually([&] { return status("in").state == State::kRunning; }));
}

TEST_F(SourcePipeline, ANackHandsOutTheSameRecordsAgain) {
  backend_.offer(lines(0, 20));
  // The partition is gone for a while: the topic is deleted under the source.
  start({source()});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 20; }));
  ASSERT_TRUE(client_->delete_topic(kTopic));
  backend_.offer(lines(20, 40));
  ASSERT_TRUE(eventually([&] { return backend_.nacks > 0; }));
  EXPECT_EQ(backend_.acked, 20U);
  ASSERT_TRUE(eventually([&] { return status("in").nacks > 0; }));
}

TEST_F(SourcePipeline, ANewerStateIsRefusedWithBothVersions) {
  backend_.source_state_version = 3;
  backend_.offer(lines(0, 5));
  start({source()});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 5; }));
  backend_.source_state_version = 2;
  restart({source()});
  ASSERT_TRUE(eventually([&] { return status("in").state == State::kError; }));
  EXPECT_EQ(status("in").last_error->code, "pipeline.newer_state");
  EXPECT_NE(status("in").last_error->text.find("version 3"), std::string::npos);
  EXPECT_NE(status("in").last_error->text.find("up to 2"), std::string::npos);
}

TEST_F(SourcePipeline, AnOlderStateIsMigrated) {
  backend_.offer(lines(0, 5));
  backend_.raw_state = "v1:5";
  start({source()});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 5; }));
  backend_.raw_state.reset();
  backend_.source_state_version = 2;
  backend_.on_migrate = [](const std::string& old) { return old.substr(3); };
  restart({source()});
  backend_.offer(lines(5, 8));
  ASSERT_TRUE(eventually([&] { return backend_.acked == 8; }));
  EXPECT_EQ(backend_.restored_at(), 5U);
  EXPECT_EQ(payloads(), lines(0, 8));
  EXPECT_EQ(supervisor_->source_state("in")->value().state_version, 2U);
}

TEST_F(SourcePipeline, ANewerTenureFencesThisOne) {
  backend_.offer(lines(0, 5));
  start({source()});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 5; }));
  ASSERT_TRUE(client_->begin_source(topic().partitions[0].ref, "in"));
  backend_.offer(lines(5, 10));
  ASSERT_TRUE(eventually([&] { return status("in").state == State::kError; }));
  EXPECT_EQ(payloads(), lines(0, 5));
  EXPECT_EQ(backend_.acked, 5U);
}

TEST_F(SourcePipeline, PauseStopsPollingAndResumeGoesOn) {
  backend_.offer(lines(0, 5));
  start({source()});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 5; }));
  ASSERT_TRUE(supervisor_->pause("in"));
  ASSERT_TRUE(eventually([&] { return status("in").state == State::kPaused; }));
  EXPECT_EQ(backend_.pauses, 1);
  const int polls = backend_.polls;
  backend_.offer(lines(5, 9));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(backend_.polls, polls);
  EXPECT_FALSE(supervisor_->pause("in"));
  ASSERT_TRUE(supervisor_->resume("in"));
  ASSERT_TRUE(eventually([&] { return backend_.acked == 9; }));
  EXPECT_EQ(backend_.resumes, 1);
}

TEST_F(SourcePipeline, RateLimitHolds) {
  backend_.offer(lines(0, 60));
  auto config = source();
  config.records_per_second_max = 100;
  const auto began = std::chrono::steady_clock::now();
  start({config});
  ASSERT_TRUE(eventually([&] { return backend_.acked == 60; }));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 300ms);
}

}  // namespace
}  // namespace sluice::pipeline
