// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "runtime/pipeline/dead_letter.hpp"
#include "tests/integration/pipeline/pipeline_fixture.hpp"

namespace sluice::pipeline {
namespace {

using SinkPipeline = PipelineTest;

TEST_F(SinkPipeline, DeliversEveryRecordOfEveryPartitionOnceAndCommits) {
  for (std::uint32_t p = 0; p < 4; ++p) produce(0, 500, p, 4);
  auto config = sink(4);
  config.batching.records_max = 37;
  start({config});
  ASSERT_TRUE(eventually([&] {
    const auto now = status();
    return now.partitions.size() == 4 && std::ranges::all_of(now.partitions, [](const auto& p) { return p.committed_next == Offset(500); });
  }));
  for (std::uint32_t p = 0; p < 4; ++p) EXPECT_EQ(offsets_of(backend_.delivered(), p), range(0, 500));
  EXPECT_EQ(state(), State::kRunning);
  expect_audit();
  const StopReport report = stop();
  EXPECT_TRUE(report.drained);
  EXPECT_EQ(backend_.closes, 1);
  EXPECT_EQ(backend_.revokes, 1);
}

TEST_F(SinkPipeline, DeliversWhatArrivesWhileItRuns) {
  produce(0, 1);
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(1); }));
  produce(1, 50);
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(50); }));
  EXPECT_EQ(offsets_of(backend_.delivered()), range(0, 50));
}

TEST_F(SinkPipeline, ContinuesAfterARestartWithoutRepeating) {
  produce(0, 100);
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(100); }));
  restart({sink()});
  produce(100, 120);
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(120); }));
  EXPECT_EQ(offsets_of(backend_.delivered()), range(0, 120));
  expect_audit();
}

TEST_F(SinkPipeline, PoisonBecomesADeadLetterAndNothingElseDoes) {
  produce(0, 300);
  backend_.on_write = [](const sluice_batch& batch) {
    WriteAnswer answer;
    for (std::uint32_t i = 0; i < batch.record_count; ++i) {
      if (batch.records[i].offset % 10 == 3)
        answer.failures.push_back({i, make_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "poison", 422)});
    }
    return answer;
  };
  auto config = sink();
  config.batching.records_max = 50;
  start({config});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(300); }));
  EXPECT_EQ(partition().accounting, (client::Accounting{.delivered = 270, .dead_lettered = 30}));
  std::set<std::uint64_t> buried;
  const auto letters = topic(dead_letter_topic("out")).partitions.front();
  const auto read = client_->read(letters.ref, {.from = Offset(0)});
  ASSERT_TRUE(read);
  for (const client::LogRecord& record : read->records) {
    const auto letter = decode_dead_letter(record.record);
    ASSERT_TRUE(letter) << letter.error().to_string();
    buried.insert(letter->reason.source.offset.value());
    EXPECT_EQ(letter->reason.http_status, 422);
    EXPECT_EQ(letter->reason.connector, "out");
    EXPECT_EQ(letter->reason.source.cluster_id, node_->cluster_id());
    EXPECT_EQ(as_text(*letter->record.payload), "r" + std::to_string(letter->reason.source.offset.value()));
  }
  EXPECT_EQ(read->records.size(), 30U);
  EXPECT_EQ(buried.size(), 30U);
  expect_audit();
}

TEST_F(SinkPipeline, TransientRecordsAreRetriedInOrder) {
  produce(0, 100);
  std::map<std::uint64_t, int> failures_left;
  for (std::uint64_t offset = 5; offset < 100; offset += 20) failures_left[offset] = 3;
  backend_.on_write = [failures_left](const sluice_batch& batch) mutable {
    WriteAnswer answer;
    for (std::uint32_t i = 0; i < batch.record_count; ++i) {
      const auto left = failures_left.find(batch.records[i].offset);
      if (left == failures_left.end() || left->second-- <= 0) continue;
      answer.failures.push_back({i, make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_RECORD, "busy", 503)});
      answer.accepted_next = batch.records[i].offset;
      break;
    }
    return answer;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(100); }));
  EXPECT_EQ(offsets_of(backend_.delivered()), range(0, 100));
  EXPECT_EQ(partition().accounting.dead_lettered, 0U);
  EXPECT_GE(status().retries, 15U);
  ASSERT_TRUE(eventually([&] { return state() == State::kRunning; }));
}

TEST_F(SinkPipeline, OnePartitionThatFailsDoesNotHoldTheOthers) {
  produce(0, 50, 0, 2);
  produce(0, 50, 1, 2);
  backend_.on_write = [](const sluice_batch& batch) {
    WriteAnswer answer;
    if (batch.partition == 0) {
      answer.failures.push_back({0, make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_RECORD, "busy", 503)});
      answer.accepted_next = batch.records[0].offset;
    }
    return answer;
  };
  start({sink(2)});
  ASSERT_TRUE(eventually([&] { return partition(1).committed_next == Offset(50); }));
  EXPECT_EQ(partition(0).committed_next, Offset(0));
  ASSERT_TRUE(eventually([&] { return partition(0).attempts >= 2 && partition(0).problem; }));
  EXPECT_EQ(partition(0).problem->text, "busy");
  EXPECT_EQ(state(), State::kRetrying);
}

TEST_F(SinkPipeline, APartitionWhoseFilesCannotBeOpenedYetIsWaitedFor) {
  produce(0, 50, 0, 2);
  produce(0, 50, 1, 2);
  close_core();
  const auto segment = directory_ / "groups" / "2-1" / "00000000000000000001.log";
  const std::filesystem::path aside = directory_.string() + ".aside";
  std::filesystem::rename(segment, aside);
  std::filesystem::create_directory(segment);
  open_core();
  ASSERT_TRUE(topic().partitions[1].refused);
  start({sink(2)});
  ASSERT_TRUE(eventually([&] { return status().last_error.has_value(); }));
  EXPECT_EQ(status().last_error->code, "node.partition_unavailable");
  EXPECT_NE(state(), State::kError);
  // At once: an attempt in between would find the segment missing.
  ASSERT_EQ(::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, segment.c_str(), RENAME_EXCHANGE), 0);
  const auto delivered = [&](std::size_t index) { return partition(index).committed_next == Offset(50); };
  EXPECT_TRUE(eventually([&] { return status().partitions.size() == 2 && delivered(0) && delivered(1); }));
}

TEST_F(SinkPipeline, APartitionShowsItsOwnNewestProblem) {
  produce(0, 5, 0, 2);
  produce(0, 5, 1, 2);
  backend_.on_write = [&](const sluice_batch& batch) {
    WriteAnswer answer;
    const char* text = batch.partition == 1 ? "of the other" : failing_ ? "worse" : "busy";
    answer.failures.push_back({0, make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_RECORD, text, 503)});
    answer.accepted_next = batch.records[0].offset;
    return answer;
  };
  start({sink(2)});
  const auto shows = [&](std::size_t index, std::string_view text) {
    const auto problem = partition(index).problem;
    return problem && problem->text == text;
  };
  ASSERT_TRUE(eventually([&] { return shows(0, "busy") && shows(1, "of the other"); }));
  failing_ = true;
  EXPECT_TRUE(eventually([&] { return shows(0, "worse"); }));
  EXPECT_TRUE(shows(1, "of the other"));
}

TEST_F(SinkPipeline, AFaultInThePluginsConfigurationNamesFileAndKey) {
  backend_.on_open = [] {
    sluice_outcome outcome = make_outcome(SLUICE_CLASS_INVALID_CONFIG, SLUICE_SCOPE_CONNECTOR, "no such host");
    outcome.pointer = {"/targets/0/url", 14};
    return outcome;
  };
  auto config = sink();
  config.plugin_config_origins["/targets/0/url"] = {.file = "connectors.d/out.toml", .line = 12, .column = 5, .variable = {}};
  start({config});
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  EXPECT_EQ(status().last_error->text, "connectors.d/out.toml:12:5: `plugin_config.targets.0.url`: no such host");
}

TEST_F(SinkPipeline, PausesWhileItCannotConnect) {
  produce(0, 5);
  failing_ = true;
  backend_.on_open = [&]() -> std::optional<sluice_outcome> {
    if (failing_) return make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "connection refused");
    return std::nullopt;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return backend_.opens >= 2; }));
  ASSERT_TRUE(supervisor_->pause("out"));
  ASSERT_TRUE(eventually([&] { return state() == State::kPaused; }));
  const int opens = backend_.opens;
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(backend_.opens, opens);
  failing_ = false;
  ASSERT_TRUE(supervisor_->resume("out"));
  EXPECT_TRUE(eventually([&] { return partition().committed_next == Offset(5); }));
}

TEST_F(SinkPipeline, UnauthorizedMovesNothingAndSkipsNothing) {
  produce(0, 40);
  failing_ = true;
  backend_.on_write = [&](const sluice_batch&) {
    WriteAnswer answer;
    if (failing_) answer.call_failure = make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "401 Unauthorized", 401);
    return answer;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return backend_.writes >= 5; }));
  EXPECT_EQ(state(), State::kRetrying);
  EXPECT_EQ(status().last_error->http_status, 401);
  EXPECT_EQ(status().last_error->scope, "connector");
  EXPECT_EQ(partition().committed_next, Offset(0));
  EXPECT_TRUE(backend_.delivered().empty());
  failing_ = false;
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(40) && state() == State::kRunning; }));
  EXPECT_EQ(partition().accounting, (client::Accounting{.delivered = 40}));
  EXPECT_TRUE(payloads(dead_letter_topic("out")).empty());
}

TEST_F(SinkPipeline, AnUnreachableBackendAtOpenIsRetriedForEver) {
  produce(0, 5);
  failures_left_ = 6;
  backend_.on_open = [&]() -> std::optional<sluice_outcome> {
    if (failures_left_-- > 0) return make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "connection refused");
    return std::nullopt;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kRetrying; }));
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(5); }));
  EXPECT_EQ(backend_.opens, 7);
}

TEST_F(SinkPipeline, ANewSinkIsAKnownConsumerBeforeItsBackEndAnswers) {
  produce(0, 5);
  backend_.on_open = [] { return make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "connection refused"); };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return backend_.opens >= 2; }));
  // Else retention would take away what the sink has not seen.
  const auto position = client_->position(topic().partitions[0].ref, "out");
  ASSERT_TRUE(position && *position);
  EXPECT_EQ((*position)->committed_next, Offset(0));
}

TEST_F(SinkPipeline, LateDurabilityIsFlushedAndOnlyThenCommitted) {
  produce(0, 30);
  backend_.on_write = [](const sluice_batch&) {
    return WriteAnswer{
        .failures = {}, .call_failure = {}, .accepted_next = {}, .durable = false, .garbage_accepted_next = {}, .throws = false};
  };
  failing_ = true;
  backend_.on_flush = [&]() -> std::optional<sluice_outcome> {
    if (failing_) return make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "disk full");
    return std::nullopt;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return backend_.flushes >= 2; }));
  EXPECT_EQ(partition().committed_next, Offset(0));
  EXPECT_EQ(partition().pending, 30U);
  failing_ = false;
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(30); }));
  EXPECT_EQ(offsets_of(backend_.delivered()), range(0, 30));
}

TEST_F(SinkPipeline, WhatIsOnlyAcceptedIsNoSuccessAndNothingIsWrittenWhileFlushesFail) {
  produce(0, 30);
  backend_.on_write = [](const sluice_batch&) {
    WriteAnswer answer;
    answer.durable = false;
    return answer;
  };
  backend_.on_flush = [] { return make_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "disk full"); };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return backend_.flushes >= 1; }));
  produce(30, 60);
  ASSERT_TRUE(eventually([&] { return partition().attempts >= 4; }));
  EXPECT_EQ(backend_.delivered().size(), 30U);
  EXPECT_FALSE(status().last_success_at);
  EXPECT_EQ(state(), State::kRetrying);
  ASSERT_TRUE(partition().problem);
  EXPECT_EQ(partition().problem->text, "disk full");
}

TEST_F(SinkPipeline, GarbageFromThePluginIsAnErrorWithItsText) {
  produce(0, 10);
  backend_.on_write = [](const sluice_batch&) {
    WriteAnswer answer;
    answer.garbage_accepted_next = 1'000'000;
    return answer;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  EXPECT_EQ(status().last_error->code, "plugin.contract");
  EXPECT_EQ(partition().committed_next, Offset(0));
}

TEST_F(SinkPipeline, AnExceptionFromThePluginIsAnErrorWithItsText) {
  produce(0, 10);
  backend_.on_write = [](const sluice_batch&) {
    WriteAnswer answer;
    answer.throws = true;
    return answer;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  EXPECT_NE(status().last_error->text.find("the fake sink throws"), std::string::npos) << status().last_error->text;
}

TEST_F(SinkPipeline, TooManyDeadLettersStopTheConnector) {
  produce(0, 500);
  backend_.on_write = [](const sluice_batch& batch) {
    WriteAnswer answer;
    for (std::uint32_t i = 0; i < batch.record_count; ++i)
      answer.failures.push_back({i, make_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "bad", 400)});
    return answer;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  EXPECT_EQ(status().last_error->code, "pipeline.dead_letter_ratio");
  EXPECT_EQ(partition().accounting.dead_lettered, 100U);
  EXPECT_EQ(payloads(dead_letter_topic("out")).size(), 100U);
  EXPECT_EQ(status().restarts, 0U);
  expect_audit();
}

TEST_F(SinkPipeline, ANewerAssignmentFencesThisOne) {
  produce(0, 10);
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(10); }));
  ASSERT_TRUE(client_->begin_assignment(topic().partitions[0].ref, "out", Offset(0)));
  produce(10, 20);
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  EXPECT_NE(status().last_error->code.find("fenced"), std::string::npos) << status().last_error->code;
  EXPECT_EQ(client_->position(topic().partitions[0].ref, "out")->value().committed_next, Offset(10));
}

TEST_F(SinkPipeline, AnUnorderedSinkIsRefusedWhereOrderIsAskedFor) {
  backend_.sink_capabilities = 0;
  start({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  EXPECT_EQ(status().last_error->code, "pipeline.unordered_sink");
}

TEST_F(SinkPipeline, StartsAtTheEndWhenToldSo) {
  produce(0, 20);
  auto config = sink();
  config.start_from = config::StartLatest{};
  start({config});
  ASSERT_TRUE(eventually([&] { return state() == State::kRunning && partition().committed_next == Offset(20); }));
  produce(20, 25);
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(25); }));
  EXPECT_EQ(offsets_of(backend_.delivered()), range(20, 25));
  EXPECT_EQ(partition().start_offset, Offset(20));
}

TEST_F(SinkPipeline, RateLimitHolds) {
  produce(0, 100);
  auto config = sink();
  config.records_per_second_max = 200;
  start({config});
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(100); }));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 300ms);
}

TEST_F(SinkPipeline, RecordsRemovedBeforeTheyWereReadAreAnErrorWithTheirCount) {
  client::TopicOptions options;
  options.enforce_fsync = false;
  options.segment_bytes = client::kSegmentBytesMin;
  options.retention.bytes = 1 << 20;
  ASSERT_TRUE(client_->create_topic(kTopic, options));
  // The sink is known, but it was away while retention went on.
  ASSERT_TRUE(client_->begin_assignment(topic().partitions[0].ref, "out", Offset(0)));
  for (std::uint64_t i = 0; i < 60; ++i) produce(i * 10, i * 10 + 10, 0, 1, 10'000);
  ASSERT_TRUE(eventually([&] { return topic().partitions[0].first_offset > Offset(0); }));
  start({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  const std::uint64_t first = topic().partitions[0].first_offset.value();
  EXPECT_NE(status().last_error->text.find(std::to_string(first)), std::string::npos) << status().last_error->text;

  auto config = sink();
  config.out_of_range_to_earliest = true;
  restart({config});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(600); }));
  EXPECT_EQ(partition().accounting, (client::Accounting{.delivered = 600 - first, .expired = first}));
  expect_audit();
}

}  // namespace
}  // namespace sluice::pipeline
