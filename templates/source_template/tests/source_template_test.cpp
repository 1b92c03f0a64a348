// SPDX-License-Identifier: Apache-2.0
#include "source_template.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sluice/testing/source_driver.hpp>

namespace source_template {
namespace {

using sluice::Outcome;
using sluice::OutcomeClass;
using sluice::testing::PollReport;
using sluice::testing::SourceOf;
using Payloads = std::vector<std::string>;

constexpr const char* kSettings = R"({"connection_string": "hush", "page_size": 2})";

// What the fake back end has, in its order.
std::vector<Item> items;

struct FakeBackEnd final : BackEnd {
  std::vector<Item> fetch(const std::optional<Cursor>& after, std::uint32_t limit) override {
    std::vector<Item> page;
    for (const Item& item : items) {
      if (page.size() < limit && (!after || item.at > *after)) page.push_back(item);
    }
    return page;
  }
};

struct SourceOnFake final : SourceTemplate {
  SourceOnFake(Settings settings, sluice::Context& context) : SourceTemplate(std::move(settings), context) {
    use(std::make_unique<FakeBackEnd>());
  }
};

Payloads payloads_of(const PollReport& report) {
  EXPECT_FALSE(report.failure) << report.failure->text;
  Payloads payloads;
  for (const auto& record : report.records) payloads.push_back(record.payload.value_or("tombstone"));
  return payloads;
}

class SourceTemplateReading : public ::testing::Test {
 protected:
  void SetUp() override {
    items = {{.at = {1, "a"}, .payload = "one"}, {.at = {2, "b"}, .payload = "two"}, {.at = {3, "c"}, .payload = "three"}};
  }
  void TearDown() override { items.clear(); }
  void start(std::optional<std::string> state = std::nullopt) {
    const std::optional<Outcome> failure = source_->open(kSettings, std::move(state));
    ASSERT_FALSE(failure) << failure->text;
  }
  // Everything there is, acknowledged page by page.
  Payloads drain() {
    Payloads all;
    for (PollReport page = source_->poll(); !page.records.empty(); page = source_->poll()) {
      const Payloads payloads = payloads_of(page);
      all.insert(all.end(), payloads.begin(), payloads.end());
      EXPECT_FALSE(source_->ack());
    }
    return all;
  }

  SourceOf<SourceOnFake> source_;
};

TEST(SourceTemplateSettings, RefuseAnEmptyConnectionString) {
  SourceOf<SourceTemplate> source;
  const std::optional<Outcome> failure = source->open(R"({"connection_string": ""})");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome_class, OutcomeClass::kInvalidConfig);
  EXPECT_EQ(failure->pointer, "/connection_string");
}

TEST(SourceTemplateSettings, AreTheTableOfTheReadme) {
  std::ifstream readme(SLUICE_CONNECTOR_DIR "/README.md");
  const std::string text(std::istreambuf_iterator<char>(readme), {});
  EXPECT_NE(text.find(sluice::config_table<Settings>()), std::string::npos) << sluice::config_table<Settings>();
}

// Goes when BackEnd::fetch is written: then a test against the real back end, or a fake of it, takes its place.
TEST(SourceTemplateTodo, FailsByNameUntilFetchIsWritten) {
  SourceOf<SourceTemplate> source;
  ASSERT_FALSE(source->open(kSettings));
  const PollReport report = source->poll();
  ASSERT_TRUE(report.failure);
  EXPECT_NE(report.failure->text.find("BackEnd::fetch"), std::string::npos) << report.failure->text;
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kFatal);
}

TEST(SourceTemplateCursor, ComesBackAsItWas) {
  for (const Cursor& cursor : {Cursor{0, "x"}, Cursor{-7, "a:b"}, Cursor{std::numeric_limits<std::int64_t>::max(), "\n"}}) {
    EXPECT_EQ(decode(encode(cursor)), cursor) << encode(cursor);
  }
}

TEST(SourceTemplateCursor, RefusesWhatIsNone) {
  for (const char* state : {"", ":", "1", "1:", "x:a", "1 :a", "99999999999999999999:a"}) {
    EXPECT_THROW(static_cast<void>(decode(state)), CorruptCursor) << state;
  }
}

TEST_F(SourceTemplateReading, BeginsAtTheBeginningWithoutState) {
  start();
  EXPECT_EQ(drain(), (Payloads{"one", "two", "three"}));
}

TEST_F(SourceTemplateReading, GoesOnBehindItsState) {
  start(encode({2, "b"}));
  EXPECT_EQ(drain(), Payloads{"three"});
}

TEST_F(SourceTemplateReading, RefusesACorruptStateInsteadOfBeginningAgain) {
  const std::optional<Outcome> failure = source_->open(kSettings, "garbage");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome_class, OutcomeClass::kFatal);
  EXPECT_FALSE(failure->hint.empty());
}

TEST_F(SourceTemplateReading, MovesItsCursorWithTheAcknowledgement) {
  start();
  EXPECT_EQ(payloads_of(source_->poll()), (Payloads{"one", "two"}));
  EXPECT_EQ(source_->stored_state(), std::nullopt);
  ASSERT_FALSE(source_->ack());
  EXPECT_EQ(source_->stored_state(), encode({2, "b"}));
  EXPECT_EQ(payloads_of(source_->poll()), Payloads{"three"});
}

TEST_F(SourceTemplateReading, HandsOutALostPageAgain) {
  start();
  EXPECT_EQ(payloads_of(source_->poll()), (Payloads{"one", "two"}));
  ASSERT_FALSE(source_->nack());
  EXPECT_EQ(payloads_of(source_->poll()), (Payloads{"one", "two"}));
  ASSERT_FALSE(source_->nack());
  EXPECT_EQ(source_->stored_state(), std::nullopt);
}

TEST_F(SourceTemplateReading, LosesNothingAtAPageBorderBetweenEqualPositions) {
  items = {{.at = {1, "a"}, .payload = "one"},
           {.at = {5, "b"}, .payload = "two"},
           {.at = {5, "c"}, .payload = "three"},
           {.at = {5, "d"}, .payload = "four"},
           {.at = {6, "a"}, .payload = "five"}};
  start();
  EXPECT_EQ(drain(), (Payloads{"one", "two", "three", "four", "five"}));
}

TEST_F(SourceTemplateReading, GetsPastAPageOfUnreadableItems) {
  items[0].problem = "no JSON";
  items[1].problem = "no JSON";
  start();
  const PollReport passed_over = source_->poll();
  EXPECT_EQ(payloads_of(passed_over), Payloads{});
  EXPECT_EQ(passed_over.state, encode({2, "b"}));
  EXPECT_EQ(payloads_of(source_->poll()), Payloads{"three"});
}

TEST_F(SourceTemplateReading, GoesOnWhereAPollWasFull) {
  start();
  EXPECT_EQ(payloads_of(source_->poll({.max_records = 1})), Payloads{"one"});
  ASSERT_FALSE(source_->ack());
  EXPECT_EQ(drain(), (Payloads{"two", "three"}));
}

TEST_F(SourceTemplateReading, RefusesABackEndWithoutOrder) {
  std::swap(items[0], items[1]);
  start();
  const PollReport report = source_->poll();
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kFatal);
}

TEST_F(SourceTemplateReading, FetchesNothingAfterCancel) {
  start();
  source_->cancel();
  const PollReport report = source_->poll();
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kCancelled);
}

}  // namespace
}  // namespace source_template
