// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/sink_instance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/runtime/plugin/scripted_connector.hpp"

namespace sluice::plugin {

using ::testing::HasSubstr;

namespace {

constexpr client::PartitionRef kOne{GroupId(1)};
constexpr client::PartitionRef kTwo{GroupId(2)};

// Records at the given offsets of one partition.
struct SinkBatch {
  explicit SinkBatch(std::vector<std::uint64_t> offsets) : records(offsets.size()) {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      records[i].struct_size = sizeof(sluice_record);
      records[i].offset = offsets[i];
    }
    batch.struct_size = sizeof batch;
    batch.record_stride = sizeof(sluice_record);
    batch.record_count = static_cast<std::uint32_t>(offsets.size());
    batch.records = records.data();
  }
  std::vector<sluice_record> records;
  sluice_batch batch{};
};

Assignment assignment(client::PartitionRef ref, std::uint64_t committed_next) {
  return {.ref = ref,
          .topic = {"orders", "events"},
          .partition = PartitionIndex(static_cast<std::uint32_t>(ref.group.value())),
          .incarnation = Incarnation(3),
          .epoch = Epoch(9),
          .committed_next = Offset(committed_next)};
}

}  // namespace

class SinkInstanceTest : public ::testing::Test {
 protected:
  SinkInstanceTest() {
    sink_ = *SinkInstance::create(ScriptedConnector::factory(), 0, {.connector_key = "orders_out", .cluster_id = U128{1, 2}});
    EXPECT_TRUE(sink_->open("{}", {}).has_value());
  }
  void assign(client::PartitionRef ref, std::uint64_t committed_next) {
    const Assignment part = assignment(ref, committed_next);
    EXPECT_TRUE(sink_->assign(std::span(&part, 1), {}).has_value());
  }

  ScriptedConnector script_;
  std::unique_ptr<SinkInstance> sink_;
};

TEST_F(SinkInstanceTest, OpenCarriesAttemptAndDeadline) {
  EXPECT_EQ(script_.deadline_ns, SLUICE_NO_DEADLINE);
  EXPECT_TRUE(sink_->open("{}", {.attempt = 4, .deadline = Clock::Monotonic(77)}).has_value());
  EXPECT_EQ(script_.attempt, 4u);
  EXPECT_EQ(script_.deadline_ns, 77u);
}

TEST_F(SinkInstanceTest, FailedOpenGivesTheSinksOwnReason) {
  script_.on_open = [](const sluice_outcome_writer& failure) {
    sluice_outcome outcome = abi_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "connection refused");
    outcome.http_status = 503;
    outcome.retry_after_ms = 1500;
    failure.fail(failure.host_data, &outcome);
    return SLUICE_FAILED;
  };
  const auto opened = sink_->open("{}", {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().outcome_class, OutcomeClass::kTransient);
  EXPECT_EQ(opened.error().code, "test.code");
  EXPECT_EQ(opened.error().text, "connection refused");
  EXPECT_EQ(opened.error().http_status, 503);
  EXPECT_EQ(opened.error().retry_after, std::chrono::milliseconds(1500));
}

TEST_F(SinkInstanceTest, AssignReturnsWhereTheSinkResumes) {
  script_.on_assign = [](std::uint32_t count, std::uint64_t* resume_next) {
    ASSERT_EQ(count, 2u);
    EXPECT_EQ(resume_next[0], 10u);
    resume_next[1] = 25;
  };
  const std::vector<Assignment> parts{assignment(kOne, 10), assignment(kTwo, 20)};
  const auto resume = sink_->assign(parts, {});
  ASSERT_TRUE(resume.has_value());
  EXPECT_EQ(*resume, (std::vector{Offset(10), Offset(25)}));
  EXPECT_EQ(script_.assigned->epoch, 9u);
  EXPECT_EQ(script_.assigned->cluster_id_high, 2u);
  EXPECT_EQ(*read_text(script_.assigned->topic), "events");
}

TEST_F(SinkInstanceTest, APartitionThatIsAssignedIsNotAssignedAgain) {
  assign(kOne, 40);
  const std::vector<Assignment> again{assignment(kTwo, 10), assignment(kOne, 50)};
  const auto assigned = sink_->assign(again, {});
  ASSERT_FALSE(assigned.has_value());
  EXPECT_EQ(assigned.error().outcome_class, OutcomeClass::kFatal);
  EXPECT_THAT(assigned.error().text, HasSubstr("partition 1 of orders/events is assigned already"));
  // The one that was there stays, the other never came.
  const SinkBatch batch({40});
  EXPECT_FALSE(sink_->write(kOne, batch.batch, {}).failure.has_value());
  assign(kTwo, 10);
}

TEST_F(SinkInstanceTest, WriteReportsWhatWasTakenWhatIsSafeAndWhatFailed) {
  assign(kOne, 10);
  script_.on_write = [](const sluice_batch&, sluice_write_result& result) {
    EXPECT_EQ(result.accepted_next, 10u);
    EXPECT_EQ(result.durable_next, 10u);
    const sluice_outcome rejected = abi_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "bad field");
    result.record_failed(result.host_data, 1, &rejected);
    result.accepted_next = 16;
    result.durable_next = 12;
    return SLUICE_OK;
  };
  const SinkBatch batch({10, 12, 15});
  const WriteReport report = sink_->write(kOne, batch.batch, {});
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(report.accepted_next, Offset(16));
  EXPECT_EQ(report.durable_next, Offset(12));
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].index, 1u);
  EXPECT_EQ(report.failures[0].outcome.text, "bad field");
}

TEST_F(SinkInstanceTest, FailedCallKeepsWhatWasAcceptedBefore) {
  assign(kOne, 10);
  script_.on_write = [](const sluice_batch&, sluice_write_result& result) {
    result.accepted_next = result.durable_next = 11;
    const sluice_outcome away = abi_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "away");
    result.call_failed(result.host_data, &away);
    return SLUICE_FAILED;
  };
  const SinkBatch batch({10, 11});
  const WriteReport report = sink_->write(kOne, batch.batch, {});
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->text, "away");
  EXPECT_EQ(report.accepted_next, Offset(11));
  EXPECT_EQ(report.durable_next, Offset(11));
}

TEST_F(SinkInstanceTest, DurableOffsetMayNameEarlierBatchesAndNeverGoesBackAcrossCalls) {
  assign(kOne, 10);
  std::uint64_t durable = 10;
  script_.on_write = [&](const sluice_batch& batch, sluice_write_result& result) {
    result.accepted_next = batch.records[batch.record_count - 1].offset + 1;
    result.durable_next = durable;
    return SLUICE_OK;
  };
  const SinkBatch first({10, 11});
  const SinkBatch second({12, 13});
  EXPECT_EQ(sink_->write(kOne, first.batch, {}).durable_next, Offset(10));
  durable = 12;
  EXPECT_EQ(sink_->write(kOne, second.batch, {}).durable_next, Offset(12));
  durable = 11;
  const SinkBatch third({14});
  EXPECT_THAT(sink_->write(kOne, third.batch, {}).failure->text, HasSubstr("went back from 12 to 11"));
}

TEST_F(SinkInstanceTest, OtherPartitionsBecomeDurableDuringAWrite) {
  assign(kOne, 0);
  const sluice_assignment* one = script_.assigned;
  assign(kTwo, 0);
  script_.on_write = [](const sluice_batch& batch, sluice_write_result& result) {
    result.accepted_next = batch.records[batch.record_count - 1].offset + 1;
    return SLUICE_OK;
  };
  const SinkBatch batch({0, 1, 2});
  (void)sink_->write(kOne, batch.batch, {});
  script_.on_write = [&](const sluice_batch&, sluice_write_result& result) {
    result.durable(result.host_data, one, 2);
    result.durable(result.host_data, one, 3);
    return SLUICE_OK;
  };
  const WriteReport report = sink_->write(kTwo, batch.batch, {});
  EXPECT_FALSE(report.failure.has_value());
  ASSERT_EQ(report.others.size(), 1u);
  EXPECT_EQ(report.others[0].partition, kOne);
  EXPECT_EQ(report.others[0].durable_next, Offset(3));
  script_.on_write = [&](const sluice_batch&, sluice_write_result& result) {
    result.durable(result.host_data, one, 4);
    return SLUICE_OK;
  };
  EXPECT_THAT(sink_->write(kTwo, batch.batch, {}).failure->text, HasSubstr("partition 1 durable up to 4, but had accepted only up to 3"));
}

TEST_F(SinkInstanceTest, FlushMakesEverythingAcceptedDurable) {
  assign(kOne, 0);
  assign(kTwo, 0);
  script_.on_write = [](const sluice_batch& batch, sluice_write_result& result) {
    result.accepted_next = batch.records[batch.record_count - 1].offset + 1;
    return SLUICE_OK;
  };
  const SinkBatch batch({0, 1, 2});
  (void)sink_->write(kOne, batch.batch, {});
  const FlushReport report = sink_->flush({});
  EXPECT_FALSE(report.failure.has_value());
  ASSERT_EQ(report.durable.size(), 1u);
  EXPECT_EQ(report.durable[0].partition, kOne);
  EXPECT_EQ(report.durable[0].durable_next, Offset(3));
  EXPECT_TRUE(sink_->flush({}).durable.empty());
}

TEST_F(SinkInstanceTest, FailedFlushReportsWhatBecameDurableAllTheSame) {
  assign(kOne, 0);
  script_.on_write = [](const sluice_batch&, sluice_write_result& result) {
    result.accepted_next = 3;
    return SLUICE_OK;
  };
  const SinkBatch batch({0, 1, 2});
  (void)sink_->write(kOne, batch.batch, {});
  script_.on_flush = [&](const sluice_flush_result& result) {
    result.durable(result.host_data, script_.assigned, 2);
    const sluice_outcome full = abi_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "disk full");
    result.call_failed(result.host_data, &full);
    return SLUICE_FAILED;
  };
  const FlushReport report = sink_->flush({});
  EXPECT_EQ(report.failure->text, "disk full");
  ASSERT_EQ(report.durable.size(), 1u);
  EXPECT_EQ(report.durable[0].durable_next, Offset(2));
}

TEST_F(SinkInstanceTest, RevokedPartitionIsForgotten) {
  assign(kOne, 5);
  EXPECT_TRUE(sink_->revoke(std::span(&kOne, 1), {}).has_value());
  assign(kOne, 7);
  script_.on_write = [](const sluice_batch&, sluice_write_result& result) {
    EXPECT_EQ(result.durable_next, 7u);
    return SLUICE_OK;
  };
  const SinkBatch batch({7});
  (void)sink_->write(kOne, batch.batch, {});
}

TEST_F(SinkInstanceTest, DestroyIsCalledOnceExceptAfterAbandon) {
  EXPECT_TRUE(sink_->close({}).has_value());
  sink_.reset();
  EXPECT_EQ(script_.destroyed, 1);
  auto abandoned = *SinkInstance::create(ScriptedConnector::factory(), 0, {});
  abandoned->abandon();
  abandoned.reset();
  EXPECT_EQ(script_.destroyed, 1);
}

TEST_F(SinkInstanceTest, RunningCallHasNameAndStart) {
  ManualClock clock;
  clock.advance(std::chrono::seconds(5));
  auto timed = *SinkInstance::create(ScriptedConnector::factory(), 0, {.clock = &clock});
  EXPECT_FALSE(timed->running_call().has_value());
  script_.on_flush = [&](const sluice_flush_result&) {
    clock.advance(std::chrono::seconds(3));
    const auto running = timed->running_call();
    EXPECT_EQ(running->name, "flush");
    EXPECT_EQ(clock.monotonic() - running->started, std::chrono::seconds(3));
    return SLUICE_OK;
  };
  (void)timed->flush({});
  EXPECT_FALSE(timed->running_call().has_value());
}

}  // namespace sluice::plugin
