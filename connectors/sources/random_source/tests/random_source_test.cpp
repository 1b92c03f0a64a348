// SPDX-License-Identifier: Apache-2.0
#include "random_source.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sluice/testing/conformance.hpp>
#include <sluice/testing/source_driver.hpp>

namespace sluice::random_source {
namespace {

using testing::SourceOf;

constexpr const char* kFast = R"({"rate": 0, "payload_min": "5B", "payload_max": "50B", "seed": 7, "count": 1000})";

std::vector<std::string> payloads(const testing::PollReport& poll) {
  std::vector<std::string> out;
  out.reserve(poll.records.size());
  for (const auto& record : poll.records) out.push_back(record.payload.value_or("tombstone"));
  return out;
}

std::vector<std::string> first_payloads(const char* config, std::uint32_t count) {
  SourceOf<RandomSource> source;
  EXPECT_FALSE(source->open(config));
  return payloads(source->poll({.max_records = count}));
}

TEST(RandomSource, MakesTheSameRecordsFromTheSameSeed) {
  const auto once = first_payloads(kFast, 100);
  ASSERT_EQ(once.size(), 100U);
  EXPECT_EQ(once, first_payloads(kFast, 100));
  EXPECT_NE(once, first_payloads(R"({"rate": 0, "payload_min": "5B", "payload_max": "50B", "seed": 8})", 100));
  for (const std::string& payload : once) {
    EXPECT_GE(payload.size(), 5U);
    EXPECT_LE(payload.size(), 50U);
  }
}

TEST(RandomSource, ContinuesFromItsStateWhateverTheBatchSizes) {
  const auto whole = first_payloads(kFast, 100);
  SourceOf<RandomSource> before;
  ASSERT_FALSE(before->open(kFast));
  (void)before->poll({.max_records = 33});
  ASSERT_FALSE(before->ack());
  SourceOf<RandomSource> after;
  ASSERT_FALSE(after->open(kFast, before->stored_state()));
  EXPECT_EQ(payloads(after->poll({.max_records = 67})), std::vector(whole.begin() + 33, whole.end()));
}

TEST(RandomSource, MakesLostBatchesAgain) {
  SourceOf<RandomSource> source;
  ASSERT_FALSE(source->open(kFast));
  (void)source->poll({.max_records = 10});
  const auto lost = payloads(source->poll({.max_records = 10}));
  (void)source->poll({.max_records = 10});
  ASSERT_FALSE(source->ack());
  ASSERT_FALSE(source->nack());
  EXPECT_EQ(payloads(source->poll({.max_records = 10})), lost);
}

TEST(RandomSource, EndsAtItsCount) {
  SourceOf<RandomSource> source;
  ASSERT_FALSE(source->open(R"({"rate": 0, "count": 15})"));
  EXPECT_EQ(source->poll({.max_records = 10}).records.size(), 10U);
  EXPECT_EQ(source->poll({.max_records = 10}).records.size(), 5U);
  EXPECT_EQ(source->poll({.max_records = 10}).records.size(), 0U);
}

TEST(RandomSource, KeepsToItsRate) {
  SourceOf<RandomSource> source;
  source.host().use_manual_clock();
  ASSERT_FALSE(source->open(R"({"rate": 1000})"));
  EXPECT_EQ(source->poll().records.size(), 0U);
  source.host().advance(Duration(250));
  EXPECT_EQ(source->poll().records.size(), 250U);
  EXPECT_EQ(source->poll().records.size(), 0U);
  // Nobody polled for a minute: one second's worth, not a minute's.
  source.host().advance(Duration(60'000));
  EXPECT_EQ(source->poll({.max_records = 100'000}).records.size(), 1000U);
}

TEST(RandomSource, GoesOnAfterARecordThatIsTooLarge) {
  SourceOf<RandomSource> source;
  ASSERT_FALSE(source->open(kFast));
  const auto poll = source->poll({.max_records = 1000, .max_record_bytes = 20});
  EXPECT_GT(poll.too_large, 0U);
  EXPECT_EQ(poll.records.size() + poll.too_large, 1000U);
  EXPECT_EQ(poll.state, "1000");
}

TEST(RandomSource, MakesAgainWhatTheHostRefusedAndCouldNotBury) {
  SourceOf<RandomSource> source;
  ASSERT_FALSE(source->open(R"({"rate": 0, "payload_min": "100B", "payload_max": "100B"})"));
  const auto refused = source->poll({.max_records = 5, .max_record_bytes = 20});
  EXPECT_EQ(refused.too_large, 5U);
  EXPECT_EQ(refused.state, "5");
  // The dead letters did not get into the log.
  ASSERT_EQ(source->batches_in_flight(), 1U);
  ASSERT_FALSE(source->nack());
  EXPECT_EQ(source->poll({.max_records = 2}).state, "2");
}

TEST(RandomSource, RefusesAStateThatIsNoNumber) {
  SourceOf<RandomSource> source;
  for (const char* state : {"", "x", "5x", "-1", "99999999999999999999"}) {
    const auto outcome = source->open(kFast, state);
    ASSERT_TRUE(outcome) << state;
    EXPECT_EQ(outcome->outcome_class, OutcomeClass::kFatal);
  }
}

TEST(RandomSource, RefusesSizesThatCross) {
  SourceOf<RandomSource> source;
  EXPECT_EQ(source->open(R"({"payload_min": "10B", "payload_max": "9B"})")->pointer, "/payload_min");
}

TEST(RandomSource, ReadmeHasTheTableOfTheBinding) {
  std::ifstream file(std::string(SLUICE_CONNECTOR_DIR) + "/README.md");
  std::ostringstream readme;
  readme << file.rdbuf();
  EXPECT_NE(readme.str().find(config_table<RandomSourceConfig>()), std::string::npos) << config_table<RandomSourceConfig>();
}

// It makes its rows itself.
class RandomSourceSubject final : public testing::SourceSubjectOf<RandomSource> {
 public:
  [[nodiscard]] std::string config() const override { return kTwentyThree; }
  std::vector<std::string> rows() override { return first_payloads(kTwentyThree, 23); }
  [[nodiscard]] bool origin_can_fail() const override { return false; }
  bool spoil(std::size_t /*row*/) override { return false; }
  void fail_request(std::size_t /*n*/) override {}
  void hang() override {}
  bool wait_until_hanging(std::chrono::milliseconds /*wait_max*/) override { return false; }
  void let_go() override {}

 private:
  static constexpr const char* kTwentyThree = R"({"rate": 0, "payload_min": "20B", "payload_max": "50B", "seed": 7, "count": 23})";
};
SLUICE_SOURCE_CONFORMANCE(RandomSourceConformance, RandomSourceSubject);

}  // namespace
}  // namespace sluice::random_source
