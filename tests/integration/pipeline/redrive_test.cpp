// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/dead_letter.hpp"
#include "tests/integration/pipeline/pipeline_fixture.hpp"

namespace sluice::pipeline {
namespace {

using Redrive = PipelineTest;

WriteAnswer poison_every_tenth(const sluice_batch& batch) {
  WriteAnswer answer;
  for (std::uint32_t i = 0; i < batch.record_count; ++i) {
    if (batch.records[i].offset % 10 == 0)
      answer.failures.push_back({i, make_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "poison", 422)});
  }
  return answer;
}

TEST_F(Redrive, DeadLettersAreRedrivenToTheirConnectorWithTheirOrigin) {
  produce(0, 30);
  failing_ = true;
  backend_.on_write = [&](const sluice_batch& batch) { return failing_ ? poison_every_tenth(batch) : WriteAnswer{}; };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(30); }));
  failing_ = false;
  backend_.clear_delivered();

  const auto one = supervisor_->retry_dead_letters("out", Offset(1));
  ASSERT_TRUE(one) << one.error().to_string();
  EXPECT_EQ(*one, 1U);
  ASSERT_TRUE(eventually([&] { return backend_.delivered().size() == 1 && status().partitions.size() == 1; }));
  EXPECT_EQ(backend_.delivered()[0].origin_offset, 10U);
  EXPECT_EQ(backend_.delivered()[0].offset, 1U);
  EXPECT_EQ(backend_.delivered()[0].payload, "r10");
  EXPECT_EQ(backend_.delivered()[0].topic, "dlq.out");

  const auto all = supervisor_->retry_dead_letters("out", std::nullopt);
  ASSERT_TRUE(all) << all.error().to_string();
  EXPECT_EQ(*all, 3U);
  ASSERT_TRUE(eventually([&] { return backend_.delivered().size() == 4 && status().partitions.size() == 1; }));
  EXPECT_EQ(supervisor_->retry_dead_letters("out", std::nullopt).value_or(99), 0U);
  expect_audit();
}

TEST_F(Redrive, OneThatWasRedrivenBeforeIsOfferedAgain) {
  produce(0, 30);
  failing_ = true;
  backend_.on_write = [&](const sluice_batch& batch) { return failing_ ? poison_every_tenth(batch) : WriteAnswer{}; };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(30); }));
  failing_ = false;
  ASSERT_EQ(supervisor_->retry_dead_letters("out", std::nullopt).value_or(0), 3U);
  ASSERT_TRUE(eventually([&] { return backend_.delivered().size() == 30 && status().partitions.size() == 1; }));
  backend_.clear_delivered();
  // Behind the position that all of them left.
  ASSERT_EQ(supervisor_->retry_dead_letters("out", Offset(1)).value_or(0), 1U);
  ASSERT_TRUE(eventually([&] { return status().partitions.size() == 1; }));
  ASSERT_EQ(backend_.delivered().size(), 1U);
  EXPECT_EQ(backend_.delivered()[0].payload, "r10");
}

TEST_F(Redrive, AnImplausiblePositionIsRefusedEveryTime) {
  produce(0, 5);
  backend_.sink_capabilities |= SLUICE_CAPABILITY_OWN_POSITIONS;
  backend_.on_write = [](const sluice_batch& batch) {
    WriteAnswer answer;
    if (batch.records[0].offset != 0) return answer;
    answer.failures.push_back({0, make_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "poison", 422)});
    answer.accepted_next = 0;
    return answer;
  };
  backend_.resume_at = [](const std::string& topic, std::uint32_t, std::uint64_t committed) { return topic == "records" ? committed : 99; };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(5); }));
  for (int i = 0; i < 2; ++i) {
    const auto retried = supervisor_->retry_dead_letters("out", std::nullopt);
    ASSERT_FALSE(retried);
    EXPECT_TRUE(retried.error().is(Errc::kNotRedrivable)) << retried.error().to_string();
  }
  produce(5, 9);
  EXPECT_TRUE(eventually([&] { return partition().committed_next == Offset(9); }));
}

TEST_F(Redrive, GoesOnWhereRetentionHasLeftSomething) {
  client::TopicOptions options;
  options.enforce_fsync = false;
  options.segment_bytes = client::kSegmentBytesMin;
  options.retention.bytes = 3 << 20;
  ASSERT_TRUE(client_->create_topic(dead_letter_topic("out"), options));
  failing_ = true;
  backend_.on_write = [&](const sluice_batch& batch) {
    WriteAnswer answer;
    for (std::uint32_t i = 0; i < batch.record_count && failing_; ++i)
      answer.failures.push_back({i, make_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "poison", 422)});
    return answer;
  };
  auto config = sink();
  config.failure.dead_letter_ratio_max = 1.0;
  produce(0, 1);
  start({config});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(1); }));
  // The redrives' position is known from here on, and retention passes it.
  failing_ = false;
  ASSERT_TRUE(supervisor_->retry_dead_letters("out", Offset(0)));
  ASSERT_TRUE(eventually([&] { return backend_.delivered().size() == 1 && status().partitions.size() == 1; }));
  failing_ = true;
  for (std::uint64_t i = 0; i < 60; ++i) produce(1 + i * 10, 11 + i * 10, 0, 1, 10'000);
  const auto letters = [&] { return topic(dead_letter_topic("out")).partitions[0]; };
  // How much of the last segments stays depends on how the letters fell into batches.
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(601) && letters().first_offset > Offset(1); }));
  failing_ = false;
  backend_.clear_delivered();
  const auto retried = supervisor_->retry_dead_letters("out", std::nullopt);
  ASSERT_TRUE(retried) << retried.error().to_string();
  EXPECT_LT(*retried, 600U);
  // Retention may go on while the letters are read: from wherever it left off, every one to the end.
  ASSERT_TRUE(eventually([&] {
    const auto delivered = backend_.delivered();
    return !delivered.empty() && delivered.back().offset == 600 && status().partitions.size() == 1;
  }));
  EXPECT_EQ(backend_.delivered().size(), 601 - backend_.delivered().front().offset);
  EXPECT_EQ(state(), State::kRunning);
}

TEST_F(Redrive, ARedrivenRecordThatFailsAgainKeepsItsOrigin) {
  produce(0, 30);
  backend_.on_write = [&](const sluice_batch& batch) {
    WriteAnswer answer;
    for (std::uint32_t i = 0; i < batch.record_count; ++i) {
      if (as_text({reinterpret_cast<const std::byte*>(batch.records[i].payload.ptr), batch.records[i].payload.len}) == "r7") {
        answer.failures.push_back({i, make_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "poison", 422)});
      }
    }
    return answer;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(30); }));
  ASSERT_TRUE(supervisor_->retry_dead_letters("out", std::nullopt));
  ASSERT_TRUE(eventually([&] { return payloads(dead_letter_topic("out")).size() == 2 && status().partitions.size() == 1; }));
  const auto read = client_->read(topic(dead_letter_topic("out")).partitions[0].ref, {.from = Offset(1)});
  ASSERT_TRUE(read);
  EXPECT_EQ(decode_dead_letter(read->records[0].record)->reason.source.offset, Offset(7));
  EXPECT_EQ(decode_dead_letter(read->records[0].record)->reason.source.topic, kTopic);
}

}  // namespace
}  // namespace sluice::pipeline
