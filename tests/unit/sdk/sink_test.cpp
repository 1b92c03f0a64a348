// SPDX-License-Identifier: Apache-2.0
#include <sluice/sink.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <sluice/testing/sink_driver.hpp>

namespace sluice {
namespace {

using testing::ContractViolation;
using testing::SinkOf;
using testing::TestPartition;
using testing::TestRecord;
using testing::WriteReport;

struct NoConfig {
  static void bind(Binding<NoConfig>& /*b*/) {}
};

// Does in each call what the test says.
class ScriptedSink final : public Sink {
 public:
  using Config = NoConfig;
  static constexpr Descriptor kDescriptor{.id = "scripted_sink", .summary = "Scripted"};

  static inline std::function<void(Context&)> on_open;
  static inline std::function<void(const Batch&, WriteResult&, Context&)> on_write;
  static inline std::function<void(FlushResult&)> on_flush;
  static inline int alive = 0;

  ScriptedSink(NoConfig /*config*/, Context& context) : context_(context) { ++alive; }
  ~ScriptedSink() override { --alive; }
  void open() override {
    if (on_open) on_open(context_);
  }
  void write(const Batch& batch, WriteResult& result) override { on_write(batch, result, context_); }
  void flush(FlushResult& result) override {
    if (on_flush) on_flush(result);
  }

 private:
  Context& context_;
};

class SinkThunks : public ::testing::Test {
 protected:
  void SetUp() override {
    ScriptedSink::on_open = {};
    ScriptedSink::on_write = [](const Batch&, WriteResult& result, Context&) { result.deliver_all(); };
    ScriptedSink::on_flush = {};
  }
  void open() {
    ASSERT_FALSE(sink_->open());
    ASSERT_FALSE(sink_->assign({part_}).failure);
  }
  WriteReport write(std::function<void(const Batch&, WriteResult&)> script, std::vector<TestRecord> records) {
    ScriptedSink::on_write = [&](const Batch& batch, WriteResult& result, Context&) { script(batch, result); };
    return sink_->write(part_, records);
  }

  SinkOf<ScriptedSink> sink_;
  TestPartition part_;
};

std::vector<TestRecord> three() {
  return {{.payload = "a", .offset = 10}, {.payload = "b", .offset = 12}, {.payload = "c", .offset = 13}};
}

TEST_F(SinkThunks, ReportsWhatWasAcceptedAndWhatIsDurable) {
  open();
  auto report = write([](const Batch&, WriteResult& result) { result.accept_until(2); }, three());
  EXPECT_EQ(report.accepted_next, 13U);
  EXPECT_EQ(report.durable_next, 0U);
  report = write([](const Batch&, WriteResult& result) { result.accept_until(1); }, three());
  EXPECT_EQ(report.accepted_next, 12U);
  report = write([](const Batch&, WriteResult& result) { result.deliver_all(); }, three());
  EXPECT_EQ(report.accepted_next, 14U);
  EXPECT_EQ(report.durable_next, 14U);
}

TEST_F(SinkThunks, DoesNotPassAnOffsetBeforeAllItsPartsAreAccepted) {
  open();
  const std::vector<TestRecord> parts{
      {.payload = "a", .offset = 10, .part_index = 0}, {.payload = "b", .offset = 10, .part_index = 1}, {.payload = "c", .offset = 11}};
  EXPECT_EQ(write([](const Batch&, WriteResult& result) { result.accept_until(1); }, parts).accepted_next, 10U);
  EXPECT_EQ(write([](const Batch&, WriteResult& result) { result.accept_until(2); }, parts).accepted_next, 11U);
}

TEST_F(SinkThunks, GiveAThrownRecordErrorToTheFirstRecordNotAccepted) {
  open();
  const auto report = write(
      [](const Batch&, WriteResult& result) {
        result.deliver_until(1);
        throw RecordError("http.status", "unprocessable", {.http_status = 422});
      },
      three());
  EXPECT_FALSE(report.failure);
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(report.failed[0].index, 1U);
  EXPECT_EQ(report.failed[0].outcome.outcome_class, OutcomeClass::kPermanent);
  EXPECT_EQ(report.failed[0].outcome.http_status, 422);
  EXPECT_EQ(report.accepted_next, 12U);
  EXPECT_EQ(report.durable_next, 12U);
}

TEST_F(SinkThunks, ReportSeveralFailedRecordsAndGoOn) {
  open();
  const Outcome refused{.outcome_class = OutcomeClass::kPermanent, .scope = OutcomeScope::kRecord, .code = "x", .text = "refused"};
  const auto report = write(
      [&](const Batch&, WriteResult& result) {
        result.fail(0, refused);
        result.fail(2, refused);
        result.deliver_all();
      },
      three());
  ASSERT_EQ(report.failed.size(), 2U);
  EXPECT_EQ(report.failed[1].index, 2U);
  EXPECT_EQ(report.accepted_next, 14U);
}

TEST_F(SinkThunks, DeliverARetriedRecordBelowWhatIsDurable) {
  open();
  const auto poison_in_the_middle = [](const Batch&, WriteResult& result) {
    result.fail(1, TransientError("http.status", "busy").outcome());
    result.deliver_all();
  };
  EXPECT_EQ(write(poison_in_the_middle, three()).durable_next, 14U);
  const auto deliver = [](const Batch&, WriteResult& result) { result.deliver_all(); };
  const auto report = write(deliver, {{.payload = "b", .offset = 12}});
  EXPECT_FALSE(report.failure);
  EXPECT_EQ(report.accepted_next, 13U);
  EXPECT_EQ(report.durable_next, 14U);
}

TEST_F(SinkThunks, RefuseCountsBeyondTheBatch) {
  open();
  const auto too_many = write([](const Batch&, WriteResult& result) { result.accept_until(4); }, three());
  ASSERT_TRUE(too_many.failure);
  EXPECT_EQ(too_many.failure->outcome_class, OutcomeClass::kFatal);
  EXPECT_EQ(too_many.accepted_next, 10U);
  EXPECT_EQ(write([](const Batch&, WriteResult& result) { result.fail(3, {}); }, three()).failure->code, "plugin.contract");
  const auto late = write(
      [](const Batch&, WriteResult& result) {
        result.accept_all();
        throw TransientError("x", "but all were accepted");
      },
      three());
  ASSERT_TRUE(late.failure);
  EXPECT_EQ(late.failure->outcome_class, OutcomeClass::kFatal);
}

TEST_F(SinkThunks, DoNotGuessWhichRecordAThrownErrorIsAbout) {
  open();
  const auto report = write(
      [](const Batch&, WriteResult& result) {
        result.fail(0, RecordError("x", "refused").outcome());
        throw TransientError("x", "record 1, or the first one not counted?");
      },
      three());
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kFatal);
  EXPECT_EQ(report.failed.size(), 1U);
}

TEST_F(SinkThunks, TurnEveryExceptionIntoAnOutcome) {
  open();
  auto report = write([](const Batch&, WriteResult&) { throw ConnectorError("net", "refused", {.retry_after = Duration(7)}); }, three());
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kTransient);
  EXPECT_EQ(report.failure->scope, OutcomeScope::kConnector);
  EXPECT_EQ(report.failure->retry_after, Duration(7));
  report = write([](const Batch&, WriteResult&) { throw std::runtime_error("a bug"); }, three());
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kFatal);
  EXPECT_EQ(report.failure->text, "a bug");
  report = write([](const Batch&, WriteResult&) { throw 42; }, three());
  EXPECT_EQ(report.failure->code, "plugin.exception");
}

TEST_F(SinkThunks, OpenAgainAfterAFailedOpenWithANewObject) {
  ScriptedSink::on_open = [](Context&) { throw ConnectorError("net", "unreachable"); };
  EXPECT_EQ(sink_->open()->text, "unreachable");
  EXPECT_EQ(ScriptedSink::alive, 0);
  ScriptedSink::on_open = {};
  EXPECT_FALSE(sink_->open());
  EXPECT_EQ(ScriptedSink::alive, 1);
  EXPECT_FALSE(sink_->close());
  EXPECT_EQ(ScriptedSink::alive, 0);
}

TEST_F(SinkThunks, RefuseAnUnknownKeyOfTheConfiguration) {
  EXPECT_EQ(sink_->open(R"({"x": 1})")->pointer, "/x");
}

TEST_F(SinkThunks, ReportCancelledForEverythingAfterCancel) {
  open();
  ScriptedSink::on_write = [this](const Batch&, WriteResult&, Context& context) {
    sink_->cancel();
    EXPECT_TRUE(context.stop().stop_requested());
    throw std::runtime_error("what waits was interrupted");
  };
  EXPECT_EQ(sink_->write(part_, three()).failure->outcome_class, OutcomeClass::kCancelled);
  EXPECT_EQ(sink_->flush()->outcome_class, OutcomeClass::kCancelled);
  EXPECT_FALSE(sink_->close());
}

TEST_F(SinkThunks, ShowRecordsAsTheHostGaveThem) {
  open();
  const std::vector<TestRecord> records{
      {.key = "", .payload = std::string("p\0q", 3), .headers = {{"h", "1"}, {"h", ""}}, .format = Format::kJson}, {}};
  const auto script = [&](const Batch& batch, WriteResult& result) {
    ASSERT_EQ(batch.size(), 2U);
    EXPECT_EQ(batch.topic(), "topic");
    EXPECT_EQ(batch[0].key(), "");
    EXPECT_EQ(batch[0].payload(), std::string_view("p\0q", 3));
    ASSERT_EQ(batch[0].headers().size(), 2U);
    EXPECT_EQ(batch[0].headers()[0].value(), "1");
    EXPECT_EQ(batch[0].format(), Format::kJson);
    EXPECT_EQ(batch[1].key(), std::nullopt);
    EXPECT_TRUE(batch[1].is_tombstone());
    std::vector<std::uint64_t> offsets;
    for (const Record& record : batch) offsets.push_back(record.offset());
    EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 1}));
    result.deliver_all();
  };
  (void)write(script, records);
}

TEST_F(SinkThunks, DedupKeyNamesTheRecordAndNothingElse) {
  open();
  TestPartition origin{.stream = "s0", .topic = "t0", .partition = 3, .incarnation = 9, .committed_next = 77};
  const std::vector<TestRecord> records{
      {.payload = "a", .offset = 5}, {.payload = "b", .offset = 6, .part_index = 2}, {.payload = "c", .offset = 7, .origin = origin}};
  std::vector<std::string> keys;
  const auto script = [&](const Batch& batch, WriteResult& result) {
    for (const Record& record : batch) keys.push_back(dedup_key(batch, record));
    result.deliver_all();
  };
  (void)write(script, records);
  const std::string cluster = "0123456789abcdeffedcba9876543210";
  EXPECT_EQ(keys,
            (std::vector<std::string>{cluster + ":stream:topic:0:1:5", cluster + ":stream:topic:0:1:6:2", cluster + ":s0:t0:3:9:77"}));
}

TEST_F(SinkThunks, ContextReachesTheHost) {
  ScriptedSink::on_open = [](Context& context) {
    context.log(LogLevel::kWarn, "careful");
    context.counter("requests_total", "Requests.").add(2);
    context.gauge("depth", "Depth.").set(1.5);
    context.retrying(3, Duration(250), TransientError("x", "again").outcome());
  };
  open();
  EXPECT_EQ(sink_.host().logs().at(0).text, "careful");
  EXPECT_EQ(sink_.host().metric("requests_total"), 2.0);
  EXPECT_EQ(sink_.host().metric("depth"), 1.5);
  EXPECT_EQ(sink_.host().retries().at(0).wait, Duration(250));
}

}  // namespace
}  // namespace sluice
