// SPDX-License-Identifier: Apache-2.0
#include <sluice/source.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sluice/testing/source_driver.hpp>

namespace sluice {
namespace {

using testing::PollLimits;
using testing::SourceOf;

struct NothingToConfigure {
  static void bind(Binding<NothingToConfigure>& /*b*/) {}
};

// Does in each call what the test says.
class ScriptedSource final : public Source {
 public:
  using Config = NothingToConfigure;
  static constexpr Descriptor kDescriptor{.id = "scripted_source", .summary = "Scripted", .max_batches_in_flight = 3, .state_version = 2};

  static inline std::function<void(std::optional<std::string_view>)> on_open;
  static inline std::function<void(const PollRequest&, SourceWriter&, Context&)> on_poll;
  static inline std::vector<std::pair<std::uint64_t, BatchResult>> results;

  ScriptedSource(NothingToConfigure /*config*/, Context& context) : context_(context) {}
  static std::string migrate_state(std::uint32_t from_version, std::string_view state) {
    if (from_version != 1) throw FatalError("state", "unknown version");
    return "2:" + std::string(state);
  }
  void open(std::optional<std::string_view> state) override {
    if (on_open) on_open(state);
  }
  void poll(const PollRequest& request, SourceWriter& writer) override { on_poll(request, writer, context_); }
  void on_result(std::uint64_t batch_id, BatchResult result) override { results.emplace_back(batch_id, result); }

 private:
  Context& context_;
};

class SourceThunks : public ::testing::Test {
 protected:
  void SetUp() override {
    ScriptedSource::on_open = {};
    ScriptedSource::on_poll = [](const PollRequest&, SourceWriter& writer, Context&) {
      EXPECT_EQ(writer.append({.payload = "x"}), AppendResult::kOk);
    };
    ScriptedSource::results.clear();
  }

  SourceOf<ScriptedSource> source_;
};

TEST_F(SourceThunks, CarryTheWholeRecord) {
  ScriptedSource::on_poll = [](const PollRequest&, SourceWriter& writer, Context&) {
    const Header headers[] = {{"h", "1"}, {"h", "2"}};
    const SourceRecord record{
        .key = "", .payload = "p", .headers = headers, .origin_timestamp_us = 5, .format = Format::kJson, .schema_id = 9};
    EXPECT_EQ(writer.append(record, {.output = 1, .partition = 3}), AppendResult::kOk);
    EXPECT_EQ(writer.append({}), AppendResult::kOk);
    writer.set_state("s");
  };
  ASSERT_FALSE(source_->open());
  const auto poll = source_->poll({.outputs = 2});
  ASSERT_EQ(poll.records.size(), 2U);
  EXPECT_EQ(poll.records[0].key, "");
  EXPECT_EQ(poll.records[0].payload, "p");
  EXPECT_EQ(poll.records[0].headers, (std::vector<std::pair<std::string, std::string>>{{"h", "1"}, {"h", "2"}}));
  EXPECT_EQ(poll.records[0].origin_timestamp_us, 5);
  EXPECT_EQ(poll.records[0].format, Format::kJson);
  EXPECT_EQ(poll.records[0].schema_id, 9U);
  EXPECT_EQ(poll.records[0].output, 1U);
  EXPECT_EQ(poll.records[0].partition, 3);
  EXPECT_EQ(poll.records[1].key, std::nullopt);
  EXPECT_EQ(poll.records[1].payload, std::nullopt);
  EXPECT_EQ(poll.state, "s");
}

TEST_F(SourceThunks, TellFullAndTooLarge) {
  std::vector<AppendResult> answers;
  ScriptedSource::on_poll = [&](const PollRequest&, SourceWriter& writer, Context&) {
    answers.push_back(writer.append({.payload = std::string_view("0123456789ABCDEFG")}));
    answers.push_back(writer.append({.payload = "1"}));
    answers.push_back(writer.append({.payload = "2"}));
    EXPECT_EQ(writer.handed_out(), 2U);
  };
  ASSERT_FALSE(source_->open());
  const auto poll = source_->poll({.max_records = 1, .max_record_bytes = 16});
  EXPECT_EQ(answers, (std::vector{AppendResult::kTooLarge, AppendResult::kOk, AppendResult::kFull}));
  EXPECT_EQ(poll.too_large, 1U);
}

TEST_F(SourceThunks, HaveAResultForAPollWhoseRecordsWereAllTooLarge) {
  ScriptedSource::on_poll = [&](const PollRequest&, SourceWriter& writer, Context&) {
    EXPECT_EQ(writer.append({.payload = std::string_view("0123456789ABCDEFG")}), AppendResult::kTooLarge);
  };
  ASSERT_FALSE(source_->open());
  EXPECT_TRUE(source_->poll({.max_record_bytes = 16}).records.empty());
  ASSERT_EQ(source_->batches_in_flight(), 1U);
  EXPECT_FALSE(source_->nack());
  EXPECT_EQ(ScriptedSource::results, (std::vector<std::pair<std::uint64_t, BatchResult>>{{1, BatchResult::kNacked}}));
}

TEST_F(SourceThunks, FailThePollForAnImpossibleRoute) {
  ScriptedSource::on_poll = [](const PollRequest&, SourceWriter& writer, Context&) {
    (void)writer.append({.payload = "x"}, {.output = 7});
  };
  ASSERT_FALSE(source_->open());
  EXPECT_EQ(source_->poll().failure->outcome_class, OutcomeClass::kFatal);
}

TEST_F(SourceThunks, FailThePollForAStateThatIsTooLarge) {
  ScriptedSource::on_poll = [](const PollRequest&, SourceWriter& writer, Context&) { writer.set_state("12345"); };
  ASSERT_FALSE(source_->open());
  EXPECT_EQ(source_->poll({.max_state_bytes = 4}).failure->code, "source.state_too_large");
}

TEST_F(SourceThunks, GiveResultsInOrderAndNackWhatFollowsANack) {
  ASSERT_FALSE(source_->open());
  for (int i = 0; i < 3; ++i) (void)source_->poll();
  EXPECT_FALSE(source_->ack());
  EXPECT_FALSE(source_->nack());
  EXPECT_EQ(ScriptedSource::results, (std::vector<std::pair<std::uint64_t, BatchResult>>{
                                         {1, BatchResult::kAcked}, {2, BatchResult::kNacked}, {3, BatchResult::kNacked}}));
}

TEST_F(SourceThunks, PassTheStateToOpenAndTellAbsentFromEmpty) {
  std::vector<std::optional<std::string>> states;
  ScriptedSource::on_open = [&](std::optional<std::string_view> state) { states.emplace_back(state); };
  ASSERT_FALSE(source_->open("{}"));
  ASSERT_FALSE(source_->close());
  ASSERT_FALSE(source_->open("{}", ""));
  EXPECT_EQ(states, (std::vector<std::optional<std::string>>{std::nullopt, ""}));
}

TEST_F(SourceThunks, MigrateAnOlderState) {
  EXPECT_EQ(source_->migrate_state(1, "old").first, "2:old");
  EXPECT_EQ(source_->migrate_state(7, "old").second->text, "unknown version");
}

TEST_F(SourceThunks, CancelEndsAWaitingPoll) {
  ScriptedSource::on_poll = [](const PollRequest& request, SourceWriter&, Context& context) {
    context.wait_until_ns(request.wait_until_ns);
  };
  ASSERT_FALSE(source_->open());
  std::thread canceller([&] { source_->cancel(); });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(source_->poll({.wait = std::chrono::minutes(5)}).failure->outcome_class, OutcomeClass::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
  canceller.join();
}

}  // namespace
}  // namespace sluice
