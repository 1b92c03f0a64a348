// SPDX-License-Identifier: Apache-2.0
#include "sink_template.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sluice/testing/sink_driver.hpp>

namespace sink_template {
namespace {

using sluice::Outcome;
using sluice::OutcomeClass;
using sluice::OutcomeScope;
using sluice::testing::SinkOf;
using sluice::testing::TestPartition;
using sluice::testing::WriteReport;

constexpr const char* kSettings = R"({"connection_string": "hush", "target": "events", "max_records": 4})";

// Keeps what is pushed and fails as a test says.
struct FakeBackEnd final : BackEnd {
  std::vector<std::string> stored;
  std::vector<std::size_t> pushes;                          // records of each
  std::function<void()> on_connect;                         // throws to fail
  std::function<void(const std::string& payload)> on_push;  // throws to refuse the push that this payload is in

  void connect() override {
    if (on_connect) on_connect();
  }
  void push(const sluice::Batch& /*batch*/, std::span<const sluice::Record> records) override {
    pushes.push_back(records.size());
    std::vector<std::string> taken;
    for (const sluice::Record& record : records) {
      taken.emplace_back(record.payload_or_empty());
      if (on_push) on_push(taken.back());
    }
    stored.insert(stored.end(), taken.begin(), taken.end());
  }
};

// What the next sink's back end does; then that back end itself.
FakeBackEnd* fake = nullptr;

struct SinkOnFake final : SinkTemplate {
  SinkOnFake(Settings settings, sluice::Context& context) : SinkTemplate(std::move(settings), context) {
    auto made = std::make_unique<FakeBackEnd>();
    made->on_connect = fake->on_connect;
    made->on_push = fake->on_push;
    fake = made.get();
    use(std::move(made));
  }
};

class SinkTemplateDelivery : public ::testing::Test {
 protected:
  void SetUp() override { fake = &script_; }
  void TearDown() override { fake = nullptr; }
  void start() {
    const std::optional<Outcome> failure = sink_->open(kSettings);
    ASSERT_FALSE(failure) << failure->text;
    ASSERT_FALSE(sink_->assign({part_}).failure);
  }
  WriteReport write(const std::vector<std::string>& payloads) { return sink_->write(part_, payloads); }

  FakeBackEnd script_;
  SinkOf<SinkOnFake> sink_;
  TestPartition part_;
};

std::optional<Outcome> open_with(const std::string& settings) {
  FakeBackEnd script;
  fake = &script;
  SinkOf<SinkOnFake> sink;
  return sink->open(settings);
}

TEST(SinkTemplateSettings, RefuseAnEmptyConnectionString) {
  const std::optional<Outcome> failure = open_with(R"({"connection_string": "", "target": "events"})");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome_class, OutcomeClass::kInvalidConfig);
  EXPECT_EQ(failure->pointer, "/connection_string");
}

TEST(SinkTemplateSettings, RefuseTargetsThatInject) {
  const std::vector<std::string> targets{
      "events; DROP TABLE users;--", "../etc/passwd", "events/../secrets", "events?x=1", "events;drop", ""};
  for (const std::string& target : targets) {
    const std::optional<Outcome> failure = open_with(R"({"connection_string": "hush", "target": ")" + target + "\"}");
    ASSERT_TRUE(failure) << target;
    EXPECT_EQ(failure->outcome_class, OutcomeClass::kInvalidConfig) << target;
    EXPECT_EQ(failure->pointer, "/target") << target;
  }
  EXPECT_FALSE(open_with(R"({"connection_string": "hush", "target": "events_2024"})"));
}

TEST(SinkTemplateSettings, NameTheKeyThatAnUnknownOneIsNearTo) {
  const std::optional<Outcome> failure = open_with(R"({"connection_string": "hush", "target": "events", "auth_tokn": "x"})");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome_class, OutcomeClass::kInvalidConfig);
  EXPECT_NE((failure->text + failure->hint).find("auth_token"), std::string::npos) << failure->text << failure->hint;
}

TEST(SinkTemplateSettings, AreTheTableOfTheReadme) {
  std::ifstream readme(SLUICE_CONNECTOR_DIR "/README.md");
  const std::string text(std::istreambuf_iterator<char>(readme), {});
  EXPECT_NE(text.find(sluice::config_table<Settings>()), std::string::npos) << sluice::config_table<Settings>();
}

// Goes when BackEnd::push is written: then a test against the real back end, or a fake of it, takes its place.
TEST(SinkTemplateTodo, FailsByNameUntilPushIsWritten) {
  SinkOf<SinkTemplate> sink;
  const TestPartition part;
  ASSERT_FALSE(sink->open(kSettings));
  ASSERT_FALSE(sink->assign({part}).failure);
  const WriteReport report = sink->write(part, std::vector<std::string>{"one"});
  ASSERT_TRUE(report.failure);
  EXPECT_NE(report.failure->text.find("BackEnd::push"), std::string::npos) << report.failure->text;
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kFatal);
  EXPECT_EQ(report.durable_next, 0U);
}

TEST_F(SinkTemplateDelivery, PushesInChunksAndInOrder) {
  start();
  EXPECT_EQ(write({"a", "b", "c", "d", "e"}).durable_next, 5U);
  EXPECT_EQ(fake->pushes, (std::vector<std::size_t>{4, 1}));
  EXPECT_EQ(fake->stored, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
}

TEST_F(SinkTemplateDelivery, TellsHowFarItGotWhenItFails) {
  script_.on_push = [](const std::string& payload) {
    if (payload == "f") throw sluice::TransientError("test.busy", "busy");
  };
  start();
  const WriteReport report = write({"a", "b", "c", "d", "e", "f", "g"});
  EXPECT_EQ(report.durable_next, 4U);
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(report.failed[0].index, 4U);
  EXPECT_EQ(report.failed[0].outcome.outcome_class, OutcomeClass::kTransient);
  EXPECT_EQ(fake->stored.size(), 4U);
}

TEST_F(SinkTemplateDelivery, FindsTheRecordToBlame) {
  script_.on_push = [](const std::string& payload) {
    if (payload == "c") throw sluice::RecordError("test.bad", "bad");
  };
  start();
  const WriteReport report = write({"a", "b", "c", "d", "e"});
  EXPECT_EQ(report.durable_next, 2U);
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(report.failed[0].index, 2U);
  EXPECT_EQ(fake->stored, (std::vector<std::string>{"a", "b"}));
}

TEST_F(SinkTemplateDelivery, BlamesNoRecordForABackEndThatIsAway) {
  script_.on_push = [](const std::string&) { throw sluice::ConnectorError("test.away", "refused"); };
  start();
  const WriteReport report = write({"a", "b"});
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->scope, OutcomeScope::kConnector);
  EXPECT_TRUE(report.failed.empty());
  EXPECT_EQ(report.durable_next, 0U);
}

TEST_F(SinkTemplateDelivery, DoesNotOpenOnABackEndThatIsAway) {
  script_.on_connect = [] { throw sluice::ConnectorError("test.away", "refused"); };
  const std::optional<Outcome> failure = sink_->open(kSettings);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome_class, OutcomeClass::kTransient);
}

TEST_F(SinkTemplateDelivery, PushesNothingAfterCancel) {
  start();
  sink_->cancel();
  const WriteReport report = write({"a"});
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kCancelled);
  EXPECT_TRUE(fake->pushes.empty());
}

}  // namespace
}  // namespace sink_template
