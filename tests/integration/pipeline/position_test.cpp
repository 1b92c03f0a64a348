// SPDX-License-Identifier: Apache-2.0
// Sinks with a durable position of their own, held against what was committed.
#include "runtime/pipeline/dead_letter.hpp"
#include "tests/integration/pipeline/pipeline_fixture.hpp"

namespace sluice::pipeline {
namespace {

using SinkPosition = PipelineTest;

TEST_F(SinkPosition, ASinkThatIsAheadIsNotWrittenTwice) {
  produce(0, 20);
  backend_.sink_capabilities |= SLUICE_CAPABILITY_OWN_POSITIONS;
  backend_.resume_at = [](const std::string&, std::uint32_t, std::uint64_t) { return 12ULL; };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(20); }));
  EXPECT_EQ(offsets_of(backend_.delivered()), range(12, 20));
  EXPECT_EQ(partition().accounting.delivered, 20U);
  expect_audit();
}

TEST_F(SinkPosition, ASinkThatIsBehindItsCommitsIsAnErrorNamingBoth) {
  produce(0, 20);
  backend_.sink_capabilities |= SLUICE_CAPABILITY_OWN_POSITIONS;
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(20); }));
  backend_.resume_at = [](const std::string&, std::uint32_t, std::uint64_t) { return 15ULL; };
  restart({sink()});
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  EXPECT_EQ(status().last_error->code, "pipeline.position_went_back");
  EXPECT_NE(status().last_error->text.find("15"), std::string::npos);
  EXPECT_NE(status().last_error->text.find("20"), std::string::npos);
}

TEST_F(SinkPosition, ASinkMayBeBehindByWhatItWasNeverGiven) {
  produce(0, 20);
  backend_.sink_capabilities |= SLUICE_CAPABILITY_OWN_POSITIONS;
  backend_.on_write = [](const sluice_batch& batch) {
    WriteAnswer answer;
    for (std::uint32_t i = 0; i < batch.record_count; ++i) {
      if (batch.records[i].offset < 18) continue;
      answer.failures.push_back({i, make_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "poison", 422)});
      answer.accepted_next = batch.records[i].offset;
      break;
    }
    return answer;
  };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(20); }));
  // The last two became dead letters: the sink's own position knows nothing of them.
  backend_.resume_at = [](const std::string& topic, std::uint32_t, std::uint64_t committed) {
    return topic == "records" ? 18ULL : committed;
  };
  restart({sink()});
  produce(20, 21);
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(21); }));
  EXPECT_EQ(partition().accounting, (client::Accounting{.delivered = 18, .dead_lettered = 3}));
  expect_audit();
}

// A sink with a position of its own for whom everything from 200 on was poison, and a log of which retention has left only that.
class TrimmedSinkPosition : public PipelineTest {
 protected:
  // `delivered`: the sink was there for the first 200, else they expired unseen.
  void run(bool delivered) {
    client::TopicOptions options;
    options.enforce_fsync = false;
    options.segment_bytes = client::kSegmentBytesMin;
    options.retention.bytes = 1 << 20;
    ASSERT_TRUE(client_->create_topic(kTopic, options));
    backend_.sink_capabilities |= SLUICE_CAPABILITY_OWN_POSITIONS;
    backend_.on_write = [](const sluice_batch& batch) {
      WriteAnswer answer;
      for (std::uint32_t i = 0; i < batch.record_count; ++i) {
        if (batch.records[i].offset < 200) continue;
        answer.failures.push_back({i, make_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "poison", 422)});
        answer.accepted_next = batch.records[i].offset;
        break;
      }
      return answer;
    };
    config_ = sink();
    config_.failure.dead_letter_ratio_max = 1.0;
    config_.out_of_range_to_earliest = true;
    if (!delivered) {
      ASSERT_TRUE(client_->begin_assignment(topic().partitions[0].ref, "out", Offset(0)));
    }
    if (delivered) {
      start({config_});
      // A few at a time, so that none of them is gone before it was read.
      for (std::uint64_t i = 0; i < 20; ++i) {
        produce(i * 10, i * 10 + 10, 0, 1, 10'000);
        ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(i * 10 + 10); }));
      }
      ASSERT_TRUE(stop().drained);
    }
    for (std::uint64_t i = delivered ? 20 : 0; i < 60; ++i) produce(i * 10, i * 10 + 10, 0, 1, 10'000);
    ASSERT_TRUE(eventually([&] { return topic().partitions[0].first_offset >= Offset(200); }));
    start({config_});
    ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(600); }));
  }
  config::ConnectorConfig config_;
};

TEST_F(TrimmedSinkPosition, MayBeBehindByWhatExpired) {
  run(/*delivered=*/false);
  EXPECT_EQ(partition().accounting.delivered, 0U);
  backend_.resume_at = [](const std::string& topic, std::uint32_t, std::uint64_t committed) { return topic == "records" ? 0 : committed; };
  restart({config_});
  EXPECT_TRUE(eventually([&] { return state() == State::kRunning; }));
}

TEST_F(TrimmedSinkPosition, ThatLostRecordsIsRefusedThoughRetentionHasRemovedThem) {
  run(/*delivered=*/true);
  EXPECT_EQ(partition().accounting.delivered, 200U);
  backend_.resume_at = [](const std::string& topic, std::uint32_t, std::uint64_t committed) { return topic == "records" ? 50 : committed; };
  restart({config_});
  ASSERT_TRUE(eventually([&] { return state() == State::kError; }));
  EXPECT_EQ(status().last_error->code, "pipeline.position_went_back");
  EXPECT_NE(status().last_error->text.find("offset 50,"), std::string::npos) << status().last_error->text;
  EXPECT_NE(status().last_error->text.find("600"), std::string::npos) << status().last_error->text;
}

// The state that a crash leaves between a dead letter and the commit of its offset.
TEST_F(SinkPosition, ADeadLetterThatWasNotCommittedIsCountedAsOne) {
  produce(0, 20);
  backend_.sink_capabilities |= SLUICE_CAPABILITY_OWN_POSITIONS;
  DeadLetterReason reason;
  reason.connector = "out";
  reason.outcome_class = "permanent";
  reason.scope = "record";
  reason.code = "fake.failed";
  reason.source = {node_->cluster_id(), kTopic, PartitionIndex(0), topic().incarnation, Offset(5)};
  ASSERT_TRUE(client_->create_topic(dead_letter_topic("out"), {}));
  Record poison;
  client::AppendBatch letters;
  ASSERT_TRUE(letters.add(encode_dead_letter(poison.view(), reason).view()));
  ASSERT_TRUE(client_->append(topic(dead_letter_topic("out")).partitions[0].ref, std::move(letters)));
  backend_.resume_at = [](const std::string&, std::uint32_t, std::uint64_t) { return 12ULL; };
  start({sink()});
  ASSERT_TRUE(eventually([&] { return partition().committed_next == Offset(20); }));
  EXPECT_EQ(partition().accounting, (client::Accounting{.delivered = 19, .dead_lettered = 1}));
  expect_audit();
}

}  // namespace
}  // namespace sluice::pipeline
