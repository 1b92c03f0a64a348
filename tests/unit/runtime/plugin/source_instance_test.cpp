// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/source_instance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/runtime/plugin/scripted_connector.hpp"

namespace sluice::plugin {

using ::testing::HasSubstr;

namespace {

struct KeptRecord {
  Record record;
  std::uint32_t output = 0;
  std::optional<PartitionIndex> partition;
};

// Keeps copies, and refuses by script.
class KeepingSink final : public RecordSink {
 public:
  AppendAnswer append(const RecordView& record, std::uint32_t output, std::optional<PartitionIndex> partition) override {
    if (output > 0) return AppendAnswer::kInvalid;
    if (kept.size() == records_max) return AppendAnswer::kFull;
    kept.push_back({Record::copy_of(record), output, partition});
    return AppendAnswer::kOk;
  }
  AppendAnswer refuse(const RecordView&, std::uint32_t, const Outcome& why) override {
    refused.push_back(why);
    return AppendAnswer::kOk;
  }

  std::size_t records_max = 1000;
  std::vector<KeptRecord> kept;
  std::vector<Outcome> refused;
};

sluice_record source_record(std::string_view payload) {
  sluice_record record{};
  record.struct_size = sizeof record;
  record.flags = SLUICE_RECORD_HAS_PAYLOAD;
  record.payload = abi_bytes(payload);
  return record;
}

std::int32_t append(const sluice_source_writer& writer, const sluice_record& record, std::uint32_t output = 0) {
  return writer.append(writer.host_data, &record, output, SLUICE_ANY_PARTITION);
}

}  // namespace

class SourceInstanceTest : public ::testing::Test {
 protected:
  SourceInstanceTest() {
    source_ = *SourceInstance::create(ScriptedConnector::factory(), 1, {.record_bytes_max = 100, .state_bytes_max = 10});
    EXPECT_TRUE(source_->open("{}", std::nullopt, {}).has_value());
  }

  ScriptedConnector script_;
  std::unique_ptr<SourceInstance> source_;
  KeepingSink records_;
};

TEST_F(SourceInstanceTest, PollHandsOverWholeRecordsAndTheState) {
  script_.on_poll = [](const sluice_poll_request& request, const sluice_source_writer& writer) {
    EXPECT_EQ(request.max_records, 7u);
    EXPECT_EQ(request.batch_id, 3u);
    const sluice_header headers[] = {{abi_text("a"), abi_bytes("1")}, {abi_text("a"), abi_bytes("")}};
    sluice_record record = source_record("payload");
    record.flags |= SLUICE_RECORD_HAS_KEY;
    record.headers = headers;
    record.header_count = 2;
    record.format = SLUICE_FORMAT_JSON;
    record.schema_id = 5;
    record.id_low = 8;
    record.origin_timestamp_us = 99;
    EXPECT_EQ(writer.append(writer.host_data, &record, 0, 2), SLUICE_APPEND_OK);
    sluice_record tombstone = source_record("");
    tombstone.flags = 0;
    EXPECT_EQ(append(writer, tombstone), SLUICE_APPEND_OK);
    EXPECT_EQ(writer.set_state(writer.host_data, abi_bytes("old")), SLUICE_OK);
    EXPECT_EQ(writer.set_state(writer.host_data, abi_bytes("new")), SLUICE_OK);
    return SLUICE_OK;
  };
  const PollReport report = source_->poll({.records_max = 7, .batch_id = 3}, records_, {});
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(report.records, 2u);
  EXPECT_FALSE(report.full);
  EXPECT_EQ(as_text(*report.state), "new");
  ASSERT_EQ(records_.kept.size(), 2u);
  const Record& first = records_.kept[0].record;
  EXPECT_EQ(as_text(*first.payload), "payload");
  EXPECT_TRUE(first.key.has_value());
  EXPECT_TRUE(first.key->empty());
  EXPECT_EQ(first.headers.view().count(), 2u);
  EXPECT_EQ(first.format, SLUICE_FORMAT_JSON);
  EXPECT_EQ(first.schema_id, 5u);
  EXPECT_EQ(first.id.low, 8u);
  EXPECT_EQ(first.origin_timestamp, TimestampUs(99));
  EXPECT_EQ(records_.kept[0].partition, PartitionIndex(2));
  EXPECT_FALSE(records_.kept[1].record.key.has_value());
  EXPECT_FALSE(records_.kept[1].record.payload.has_value());
  EXPECT_FALSE(records_.kept[1].partition.has_value());
}

TEST_F(SourceInstanceTest, PollWithoutStateLeavesItUnchanged) {
  EXPECT_FALSE(source_->poll({}, records_, {}).state.has_value());
}

TEST_F(SourceInstanceTest, ByteLimitEndsThePollButOneRecordIsAlwaysTaken) {
  std::vector<std::int32_t> answers;
  script_.on_poll = [&](const sluice_poll_request&, const sluice_source_writer& writer) {
    answers.clear();
    for (int i = 0; i < 3; ++i) answers.push_back(append(writer, source_record(std::string(60, 'x'))));
    answers.push_back(append(writer, source_record("")));
    return SLUICE_OK;
  };
  const PollReport report = source_->poll({.bytes_max = 50}, records_, {});
  EXPECT_EQ(answers, (std::vector<std::int32_t>{SLUICE_APPEND_OK, SLUICE_APPEND_FULL, SLUICE_APPEND_FULL, SLUICE_APPEND_FULL}));
  EXPECT_TRUE(report.full);
  EXPECT_EQ(report.records, 1u);
  EXPECT_EQ(report.bytes, 60u);
}

TEST_F(SourceInstanceTest, FullPipelineEndsThePoll) {
  records_.records_max = 1;
  script_.on_poll = [](const sluice_poll_request&, const sluice_source_writer& writer) {
    EXPECT_EQ(append(writer, source_record("a")), SLUICE_APPEND_OK);
    EXPECT_EQ(append(writer, source_record("b")), SLUICE_APPEND_FULL);
    return SLUICE_OK;
  };
  EXPECT_TRUE(source_->poll({}, records_, {}).full);
}

TEST_F(SourceInstanceTest, RecordThatCannotBeStoredGoesByThePolicyAndTheOthersGoOn) {
  script_.on_poll = [](const sluice_poll_request&, const sluice_source_writer& writer) {
    EXPECT_EQ(append(writer, source_record(std::string(101, 'x'))), SLUICE_APPEND_TOO_LARGE);
    const sluice_header bad{abi_text("\xFF"), abi_bytes("v")};
    sluice_record record = source_record("x");
    record.headers = &bad;
    record.header_count = 1;
    EXPECT_EQ(append(writer, record), SLUICE_APPEND_TOO_LARGE);
    EXPECT_EQ(append(writer, source_record("good")), SLUICE_APPEND_OK);
    return SLUICE_OK;
  };
  const PollReport report = source_->poll({}, records_, {});
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(report.records, 3u);
  EXPECT_EQ(records_.kept.size(), 1u);
  ASSERT_EQ(records_.refused.size(), 2u);
  EXPECT_EQ(records_.refused[0].code, "record.too_large");
  EXPECT_EQ(records_.refused[1].code, "record.header");
  EXPECT_EQ(records_.refused[1].scope, Scope::kRecord);
}

TEST_F(SourceInstanceTest, UnknownOutputFailsThePoll) {
  script_.on_poll = [](const sluice_poll_request&, const sluice_source_writer& writer) {
    EXPECT_EQ(append(writer, source_record("x"), 4), SLUICE_APPEND_INVALID);
    EXPECT_EQ(writer.set_state(writer.host_data, abi_bytes("s")), SLUICE_OK);
    return SLUICE_OK;
  };
  const PollReport report = source_->poll({}, records_, {});
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_THAT(report.failure->text, HasSubstr("output 4"));
  EXPECT_FALSE(report.state.has_value());
}

TEST_F(SourceInstanceTest, FailedPollGivesTheSourcesReasonAndNoState) {
  script_.on_poll = [](const sluice_poll_request&, const sluice_source_writer& writer) {
    EXPECT_EQ(writer.set_state(writer.host_data, abi_bytes("s")), SLUICE_OK);
    const sluice_outcome gone = abi_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "gone");
    writer.fail(writer.host_data, &gone);
    return SLUICE_FAILED;
  };
  const PollReport report = source_->poll({}, records_, {});
  EXPECT_EQ(report.failure->text, "gone");
  EXPECT_FALSE(report.state.has_value());
}

TEST_F(SourceInstanceTest, MigratedStateIsWhatTheSourceWrote) {
  script_.on_migrate = [](const sluice_source_state& from, const sluice_bytes_writer& out) {
    EXPECT_EQ(from.version, 1u);
    EXPECT_EQ(out.write(out.host_data, from.bytes.ptr, from.bytes.len), SLUICE_OK);
    return out.write(out.host_data, "+v2", 3);
  };
  const auto migrated = source_->migrate_state({.version = 1, .bytes = as_bytes("abc")}, {});
  ASSERT_TRUE(migrated.has_value());
  EXPECT_EQ(as_text(*migrated), "abc+v2");
  script_.on_migrate = [](const sluice_source_state&, const sluice_bytes_writer& out) {
    EXPECT_EQ(out.write(out.host_data, "0123456789a", 11), SLUICE_FAILED);
    return SLUICE_OK;
  };
  EXPECT_THAT(source_->migrate_state({.version = 1, .bytes = {}}, {}).error().text, HasSubstr("more than 10 bytes"));
}

}  // namespace sluice::plugin
