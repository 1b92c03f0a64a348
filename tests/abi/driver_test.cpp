// SPDX-License-Identifier: Apache-2.0
// The checking drivers refuse every breach of the contract: what they let pass, no connector's tests would find.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <sluice/testing/sink_driver.hpp>
#include <sluice/testing/source_driver.hpp>

namespace sluice::testing {
namespace {

sluice_outcome some_outcome(std::uint16_t outcome_class = SLUICE_CLASS_TRANSIENT, std::uint16_t scope = SLUICE_SCOPE_RECORD) {
  sluice_outcome outcome{};
  outcome.struct_size = sizeof outcome;
  outcome.outcome_class = outcome_class;
  outcome.scope = scope;
  outcome.code = {"code", 4};
  outcome.text = {"text", 4};
  return outcome;
}

// A sink in terms of the ABI, which does in write what the test says and nothing else.
struct RawSink {
  using Write = std::function<sluice_status(const sluice_batch&, sluice_write_result&)>;
  sluice_sink table{};
  Write write;

  explicit RawSink(Write from) : write(std::move(from)) {
    table.struct_size = sizeof table;
    table.self = this;
    table.open = [](void*, const sluice_call*, sluice_text, const sluice_outcome_writer*) -> sluice_status { return SLUICE_OK; };
    table.assign = [](void*, const sluice_call*, const sluice_assignment* const*, std::uint32_t, std::uint64_t*,
                      const sluice_outcome_writer*) -> sluice_status { return SLUICE_OK; };
    table.write = [](void* self, const sluice_call*, const sluice_batch* batch, sluice_write_result* result) {
      return static_cast<RawSink*>(self)->write(*batch, *result);
    };
    table.flush = [](void*, const sluice_call*, const sluice_flush_result*) -> sluice_status { return SLUICE_OK; };
    table.revoke = [](void*, const sluice_call*, const sluice_assignment* const*, std::uint32_t,
                      const sluice_outcome_writer*) -> sluice_status { return SLUICE_OK; };
    table.close = [](void*, const sluice_call*, const sluice_outcome_writer*) -> sluice_status { return SLUICE_OK; };
    table.destroy = [](void*) {};
    table.cancel = [](void*) {};
    table.get_extension = [](void*, const char*) -> const void* { return nullptr; };
  }
};

const TestPartition kPart{.committed_next = 5};

// What the driver says of a sink that behaves like this in one write of three records from offset 5; nothing = no complaint.
std::optional<std::string> complaint_about(RawSink::Write write) {
  TestHost host;
  RawSink raw(std::move(write));
  SinkDriver sink(host, &raw.table);
  (void)sink.open();
  (void)sink.assign({kPart});
  try {
    (void)sink.write(kPart, std::vector<std::string>{"a", "b", "c"});
    (void)sink.flush();
    return std::nullopt;
  } catch (const ContractViolation& violation) {
    return violation.what();
  }
}

TEST(SinkDriver, HasNoComplaintAboutAnHonestSink) {
  EXPECT_EQ(complaint_about([](const sluice_batch&, sluice_write_result& result) {
              result.accepted_next = 8;
              result.durable_next = 7;
              return SLUICE_OK;
            }),
            std::nullopt);
  EXPECT_EQ(complaint_about([](const sluice_batch&, sluice_write_result& result) {
              const sluice_outcome outcome = some_outcome();
              result.record_failed(result.host_data, 1, &outcome);
              result.accepted_next = 6;
              return SLUICE_OK;
            }),
            std::nullopt);
}

TEST(SinkDriver, RefusesPositionsOutsideTheBatch) {
  const auto positions = [](std::uint64_t accepted_next, std::uint64_t durable_next) {
    return complaint_about([=](const sluice_batch&, sluice_write_result& result) {
      result.accepted_next = accepted_next;
      result.durable_next = durable_next;
      return SLUICE_OK;
    });
  };
  EXPECT_EQ(positions(8, 8), std::nullopt);
  EXPECT_NE(positions(9, 5), std::nullopt);
  EXPECT_NE(positions(4, 5), std::nullopt);
  EXPECT_NE(positions(7, 8), std::nullopt);
  EXPECT_NE(positions(8, 4), std::nullopt);
}

TEST(SinkDriver, RefusesAStatusThatDoesNotFitTheOutcome) {
  EXPECT_NE(complaint_about([](const sluice_batch&, sluice_write_result&) { return SLUICE_FAILED; }), std::nullopt);
  EXPECT_NE(complaint_about([](const sluice_batch&, sluice_write_result&) { return sluice_status{7}; }), std::nullopt);
  EXPECT_NE(complaint_about([](const sluice_batch&, sluice_write_result& result) {
              const sluice_outcome outcome = some_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR);
              result.call_failed(result.host_data, &outcome);
              return SLUICE_OK;
            }),
            std::nullopt);
}

TEST(SinkDriver, RefusesBrokenOutcomes) {
  const auto outcome_with = [](const std::function<void(sluice_outcome&)>& spoil) {
    return complaint_about([&](const sluice_batch&, sluice_write_result& result) {
      sluice_outcome outcome = some_outcome();
      spoil(outcome);
      result.record_failed(result.host_data, 0, &outcome);
      return SLUICE_OK;
    });
  };
  EXPECT_EQ(outcome_with([](sluice_outcome&) {}), std::nullopt);
  EXPECT_NE(outcome_with([](sluice_outcome& outcome) { outcome.outcome_class = 0; }), std::nullopt);
  EXPECT_NE(outcome_with([](sluice_outcome& outcome) { outcome.outcome_class = 7; }), std::nullopt);
  EXPECT_NE(outcome_with([](sluice_outcome& outcome) { outcome.scope = 3; }), std::nullopt);
  EXPECT_NE(outcome_with([](sluice_outcome& outcome) { outcome.scope = SLUICE_SCOPE_CONNECTOR; }), std::nullopt);
  EXPECT_NE(outcome_with([](sluice_outcome& outcome) { outcome.text = {nullptr, 5}; }), std::nullopt);
  EXPECT_NE(outcome_with([](sluice_outcome& outcome) { outcome.struct_size = 0; }), std::nullopt);
}

TEST(SinkDriver, RefusesFailedRecordsOutOfOrderOrOutsideTheBatch) {
  const auto failing = [](std::vector<std::uint32_t> indexes, std::uint64_t accepted_next = 8) {
    return complaint_about([=](const sluice_batch&, sluice_write_result& result) {
      const sluice_outcome outcome = some_outcome();
      for (const std::uint32_t index : indexes) result.record_failed(result.host_data, index, &outcome);
      result.accepted_next = accepted_next;
      return SLUICE_OK;
    });
  };
  EXPECT_EQ(failing({0, 2}), std::nullopt);
  EXPECT_EQ(failing({1}, 6), std::nullopt);
  EXPECT_NE(failing({1}, 5), std::nullopt);  // whatever became of the record before it
  EXPECT_NE(failing({3}), std::nullopt);
  EXPECT_NE(failing({1, 1}), std::nullopt);
  EXPECT_NE(failing({1, 0}), std::nullopt);
}

TEST(SinkDriver, RefusesAWriterThatIsUsedAfterItsCall) {
  sluice_write_result kept{};
  TestHost host;
  RawSink raw([&](const sluice_batch&, sluice_write_result& result) {
    kept = result;
    return SLUICE_OK;
  });
  raw.table.flush = [](void*, const sluice_call*, const sluice_flush_result*) -> sluice_status { return SLUICE_OK; };
  SinkDriver sink(host, &raw.table);
  ASSERT_FALSE(sink.open());
  (void)sink.assign({kPart});
  (void)sink.write(kPart, std::vector<std::string>{"a"});
  const sluice_outcome outcome = some_outcome();
  kept.record_failed(kept.host_data, 0, &outcome);
  EXPECT_THROW((void)sink.close(), ContractViolation);
}

TEST(SinkDriver, RefusesDurabilityOfPartitionsThatAreNotAssigned) {
  EXPECT_NE(complaint_about([](const sluice_batch&, sluice_write_result& result) {
              sluice_assignment other{};
              other.struct_size = sizeof other;
              other.stream = {"stream", 6};
              other.topic = {"other", 5};
              result.durable(result.host_data, &other, 5);
              return SLUICE_OK;
            }),
            std::nullopt);
}

TEST(SinkDriver, RefusesASinkThatGoesOnAfterCancel) {
  TestHost host;
  RawSink raw([](const sluice_batch&, sluice_write_result&) { return SLUICE_OK; });
  SinkDriver sink(host, &raw.table);
  ASSERT_FALSE(sink.open());
  sink.cancel();
  EXPECT_THROW((void)sink.flush(), ContractViolation);
}

TEST(SinkDriver, RefusesCallsInTheWrongOrder) {
  TestHost host;
  RawSink raw([](const sluice_batch&, sluice_write_result&) { return SLUICE_OK; });
  SinkDriver sink(host, &raw.table);
  const std::vector<std::string> payloads{"a"};
  EXPECT_THROW((void)sink.write(kPart, payloads), ContractViolation);
  EXPECT_THROW((void)sink.close(), ContractViolation);
  ASSERT_FALSE(sink.open());
  EXPECT_THROW((void)sink.open(), ContractViolation);
  EXPECT_THROW((void)sink.write(kPart, payloads), ContractViolation);
  EXPECT_THROW((void)sink.revoke({kPart}), ContractViolation);
  (void)sink.assign({kPart});
  EXPECT_THROW((void)sink.assign({kPart}), ContractViolation);
  EXPECT_THROW((void)sink.write(kPart, std::vector<std::string>{}), ContractViolation);
  ASSERT_FALSE(sink.close());
  EXPECT_THROW((void)sink.flush(), ContractViolation);
}

TEST(SinkDriver, RefusesCallsThatOverlap) {
  TestHost host;
  SinkDriver* driver = nullptr;
  bool refused = false;
  RawSink raw([&](const sluice_batch&, sluice_write_result&) {
    std::thread other([&] {
      try {
        (void)driver->flush();
      } catch (const ContractViolation&) {
        refused = true;
      }
    });
    other.join();
    return SLUICE_OK;
  });
  SinkDriver sink(host, &raw.table);
  driver = &sink;
  ASSERT_FALSE(sink.open());
  (void)sink.assign({kPart});
  (void)sink.write(kPart, std::vector<std::string>{"a"});
  EXPECT_TRUE(refused);
}

TEST(SinkDriver, RefusesATableThatIsNotComplete) {
  TestHost host;
  RawSink raw([](const sluice_batch&, sluice_write_result&) { return SLUICE_OK; });
  raw.table.revoke = nullptr;
  EXPECT_THROW(SinkDriver(host, &raw.table), ContractViolation);
  EXPECT_THROW(SinkDriver(host, nullptr), ContractViolation);
}

// A source in terms of the ABI, which does in poll what the test says and nothing else.
struct RawSource {
  using Poll = std::function<sluice_status(const sluice_source_writer&)>;
  sluice_source table{};
  Poll poll;

  explicit RawSource(Poll from) : poll(std::move(from)) {
    table.struct_size = sizeof table;
    table.self = this;
    table.migrate_state = [](void*, const sluice_call*, const sluice_source_state*, const sluice_bytes_writer*,
                             const sluice_outcome_writer*) -> sluice_status { return SLUICE_OK; };
    table.open = [](void*, const sluice_call*, sluice_text, const sluice_source_state*, const sluice_outcome_writer*) -> sluice_status {
      return SLUICE_OK;
    };
    table.poll = [](void* self, const sluice_call*, const sluice_poll_request*, const sluice_source_writer* writer) {
      return static_cast<RawSource*>(self)->poll(*writer);
    };
    table.on_result = [](void*, const sluice_call*, std::uint64_t, std::int32_t, const sluice_outcome_writer*) -> sluice_status {
      return SLUICE_OK;
    };
    const auto nothing = [](void*, const sluice_call*, const sluice_outcome_writer*) -> sluice_status { return SLUICE_OK; };
    table.pause = nothing;
    table.resume = nothing;
    table.close = nothing;
    table.destroy = [](void*) {};
    table.cancel = [](void*) {};
    table.get_extension = [](void*, const char*) -> const void* { return nullptr; };
  }
};

sluice_record payload_record() {
  sluice_record record{};
  record.struct_size = sizeof record;
  record.flags = SLUICE_RECORD_HAS_PAYLOAD;
  record.payload = {reinterpret_cast<const std::uint8_t*>("x"), 1};
  return record;
}

std::optional<std::string> complaint_about_poll(RawSource::Poll poll) {
  TestHost host;
  RawSource raw(std::move(poll));
  SourceDriver source(host, &raw.table, 1);
  (void)source.open();
  try {
    (void)source.poll({.max_records = 2});
    return std::nullopt;
  } catch (const ContractViolation& violation) {
    return violation.what();
  }
}

TEST(SourceDriver, RefusesAppendsAfterFull) {
  const auto appending = [](int count) {
    return complaint_about_poll([=](const sluice_source_writer& writer) {
      const sluice_record record = payload_record();
      for (int i = 0; i < count; ++i) (void)writer.append(writer.host_data, &record, 0, SLUICE_ANY_PARTITION);
      return SLUICE_OK;
    });
  };
  EXPECT_EQ(appending(3), std::nullopt);  // the third is told that the poll is full
  EXPECT_NE(appending(4), std::nullopt);
}

TEST(SourceDriver, RefusesBrokenRecords) {
  const auto record_with = [](const std::function<void(sluice_record&)>& spoil) {
    return complaint_about_poll([&](const sluice_source_writer& writer) {
      sluice_record record = payload_record();
      spoil(record);
      (void)writer.append(writer.host_data, &record, 0, SLUICE_ANY_PARTITION);
      return SLUICE_OK;
    });
  };
  EXPECT_EQ(record_with([](sluice_record&) {}), std::nullopt);
  EXPECT_NE(record_with([](sluice_record& record) { record.payload = {nullptr, 1}; }), std::nullopt);
  EXPECT_NE(record_with([](sluice_record& record) { record.key = {nullptr, 1}; }), std::nullopt);
  EXPECT_NE(record_with([](sluice_record& record) { record.header_count = 1; }), std::nullopt);
  EXPECT_NE(record_with([](sluice_record& record) { record.flags = 0x8000; }), std::nullopt);
  EXPECT_NE(record_with([](sluice_record& record) { record.struct_size = 8; }), std::nullopt);
}

TEST(SourceDriver, RefusesAFailedPollWithoutAReason) {
  EXPECT_NE(complaint_about_poll([](const sluice_source_writer&) { return SLUICE_FAILED; }), std::nullopt);
}

TEST(SourceDriver, RefusesCallsInTheWrongOrder) {
  TestHost host;
  RawSource raw([](const sluice_source_writer& writer) {
    const sluice_record record = payload_record();
    (void)writer.append(writer.host_data, &record, 0, SLUICE_ANY_PARTITION);
    return SLUICE_OK;
  });
  SourceDriver source(host, &raw.table, 1);
  EXPECT_THROW((void)source.poll(), ContractViolation);
  ASSERT_FALSE(source.open());
  EXPECT_THROW((void)source.ack(), ContractViolation);
  (void)source.poll();
  EXPECT_THROW((void)source.poll(), ContractViolation);
  ASSERT_FALSE(source.ack());
  ASSERT_FALSE(source.pause());
  EXPECT_THROW((void)source.poll(), ContractViolation);
  ASSERT_FALSE(source.resume());
  (void)source.poll();
}

}  // namespace
}  // namespace sluice::testing
