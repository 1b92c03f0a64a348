// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/lane.hpp"

#include <iostream>

#include "tests/unit/runtime/pipeline/lane_fixture.hpp"

namespace sluice::pipeline {
namespace {

using LaneFailure = LaneTest;

TEST_F(LaneFailure, PermanentBecomesADeadLetterBeforeTheOffsetMoves) {
  start();
  add(read(0, 4));
  take();
  const auto verdict = answer(4, {{1, outcome(OutcomeClass::kPermanent)}});
  EXPECT_EQ(verdict.taken, 3U);
  ASSERT_EQ(lane_->doomed().size(), 1U);
  EXPECT_EQ(lane_->doomed()[0].record->offset, Offset(1));
  EXPECT_EQ(lane_->doomed()[0].attempts, 1U);
  EXPECT_EQ(commit(), 1U);
  lane_->buried(1);
  EXPECT_EQ(commit(), 4U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 3, .dead_lettered = 1}));
}

TEST_F(LaneFailure, NothingIsWrittenWhileADeadLetterIsUnderWay) {
  start();
  add(read(0, 4));
  take(2);
  answer(2, {{1, outcome(OutcomeClass::kPermanent)}});
  EXPECT_EQ(take(), Offsets{});
  lane_->buried(1);
  EXPECT_EQ(take(), (Offsets{2, 3}));
}

TEST_F(LaneFailure, PermanentMaySkip) {
  options_.failure.record = Disposition::kSkip;
  start();
  add(read(0, 2));
  take();
  answer(2, {{0, outcome(OutcomeClass::kPermanent)}});
  EXPECT_EQ(commit(), 2U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 1, .skipped = 1}));
}

TEST_F(LaneFailure, PermanentMayStopTheConnectorAndMovesNothing) {
  options_.failure.record = Disposition::kStop;
  start();
  add(read(0, 2));
  take();
  const auto verdict = answer(0, {{0, outcome(OutcomeClass::kPermanent)}});
  ASSERT_TRUE(verdict.stop);
  EXPECT_EQ(verdict.stop->text, "no");
  EXPECT_EQ(commit(), 0U);
}

TEST_F(LaneFailure, InOrderATransientFailureHoldsEverythingBehindIt) {
  start();
  add(read(0, 4));
  take();
  const auto verdict = answer(1, {{1, outcome(OutcomeClass::kTransient)}});
  EXPECT_EQ(verdict.taken, 1U);
  EXPECT_EQ(verdict.retries, 1U);
  EXPECT_EQ(take(), Offsets{});
  const auto at = lane_->next_at(now_);
  ASSERT_TRUE(at);
  EXPECT_GT(*at, now_);
  EXPECT_EQ(lane_->holdup()->attempts, 1U);
  now_ = *at;
  EXPECT_EQ(take(), (Offsets{1, 2, 3}));
  EXPECT_EQ(batch_.attempt, 2U);
  answer(4);
  EXPECT_EQ(commit(), 4U);
  EXPECT_FALSE(lane_->holdup());
}

TEST_F(LaneFailure, FreshRecordsQueueBehindAFailureInOrder) {
  start();
  add(read(0, 2));
  take();
  answer(0, {{0, outcome(OutcomeClass::kTransient)}});
  add(read(2, 4));
  EXPECT_EQ(take(), Offsets{});
  now_ = *lane_->next_at(now_);
  EXPECT_EQ(take(), (Offsets{0, 1}));
  answer(2);
  EXPECT_EQ(take(), (Offsets{2, 3}));
}

TEST_F(LaneFailure, AWholeRequestMayFailRecordByRecord) {
  start();
  add(read(0, 3));
  take();
  answer(3, {{0, outcome(OutcomeClass::kTransient)}, {1, outcome(OutcomeClass::kTransient)}, {2, outcome(OutcomeClass::kTransient)}});
  EXPECT_EQ(take(), Offsets{});
  now_ += 10s;
  EXPECT_EQ(take(), (Offsets{0, 1, 2}));
}

TEST_F(LaneFailure, WhatASinkTookBeyondAFailureIsNotSentAgain) {
  start();
  add(read(0, 4));
  take();
  EXPECT_EQ(answer(4, {{1, outcome(OutcomeClass::kTransient)}}).taken, 3U);
  now_ += 10s;
  EXPECT_EQ(take(), (Offsets{1}));
  answer(2);
  // It was taken below what the sink had reported as durable: only a flush proves that it is safe.
  EXPECT_EQ(commit(), 1U);
  EXPECT_TRUE(lane_->must_flush());
  lane_->flushed();
  EXPECT_EQ(commit(), 4U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 4}));
}

TEST_F(LaneFailure, ASinkWithItsOwnPositionsMustNotGoOnAfterAFailure) {
  options_.own_positions = true;
  start();
  add(read(0, 4));
  take();
  const auto verdict = answer(4, {{1, outcome(OutcomeClass::kPermanent)}});
  ASSERT_TRUE(verdict.stop);
  EXPECT_EQ(verdict.stop->outcome_class, OutcomeClass::kFatal);
  EXPECT_TRUE(lane_->doomed().empty());
}

TEST_F(LaneFailure, TransientUsesUpItsAttemptsAndThenFollowsThePolicy) {
  options_.failure.transient = {.attempts_max = 2, .duration_max = std::nullopt, .then = Disposition::kDeadLetter};
  start();
  add(read(0, 2));
  take();
  answer(0, {{0, outcome(OutcomeClass::kTransient)}});
  now_ += 10s;
  take();
  answer(0, {{0, outcome(OutcomeClass::kTransient)}});
  ASSERT_EQ(lane_->doomed().size(), 1U);
  EXPECT_EQ(lane_->doomed()[0].attempts, 2U);
  lane_->buried(1);
  EXPECT_EQ(take(), (Offsets{1}));
}

TEST_F(LaneFailure, AmbiguousIsRetriedAndCounted) {
  start();
  add(read(0, 1));
  take();
  const auto verdict = answer(0, {{0, outcome(OutcomeClass::kAmbiguous)}});
  EXPECT_EQ(verdict.ambiguous, 1U);
  EXPECT_EQ(verdict.retries, 1U);
  now_ += 10s;
  EXPECT_EQ(take(), (Offsets{0}));
}

TEST_F(LaneFailure, RetryAfterSetsTheWait) {
  start();
  add(read(0, 1));
  take();
  auto later = outcome(OutcomeClass::kTransient);
  later.retry_after = 7s;
  answer(0, {{0, later}});
  EXPECT_EQ(lane_->next_at(now_), now_ + 7s);
}

TEST_F(LaneFailure, ConnectorScopeMovesNothingAndCostsNoAttempt) {
  options_.failure.transient = {.attempts_max = 1, .duration_max = std::nullopt, .then = Disposition::kDeadLetter};
  start();
  add(read(0, 3));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(take(), (Offsets{0, 1, 2}));
    const auto verdict = answer(0, {}, std::nullopt, outcome(OutcomeClass::kTransient, Scope::kConnector));
    ASSERT_TRUE(verdict.connector_failure);
    EXPECT_FALSE(verdict.stop);
    EXPECT_EQ(commit(), 0U);
  }
  take();
  answer(3);
  EXPECT_EQ(commit(), 3U);
}

TEST_F(LaneFailure, ConnectorScopeAfterSomeWereTakenOffersTheRest) {
  start();
  add(read(0, 4));
  take();
  answer(2, {}, std::nullopt, outcome(OutcomeClass::kTransient, Scope::kConnector));
  EXPECT_EQ(commit(), 2U);
  EXPECT_EQ(take(), (Offsets{2, 3}));
}

TEST_F(LaneFailure, PermanentOfScopeConnectorIsWaitedForToo) {
  start();
  add(read(0, 1));
  take();
  const auto verdict = answer(0, {}, std::nullopt, outcome(OutcomeClass::kPermanent, Scope::kConnector));
  EXPECT_TRUE(verdict.connector_failure);
  EXPECT_FALSE(verdict.stop);
}

TEST_F(LaneFailure, FatalAndInvalidConfigStop) {
  for (const OutcomeClass broken : {OutcomeClass::kFatal, OutcomeClass::kInvalidConfig}) {
    start();
    reported_ = 0;
    add(read(0, 2));
    take();
    EXPECT_TRUE(answer(0, {}, std::nullopt, outcome(broken, Scope::kConnector)).stop);
    EXPECT_EQ(commit(), 0U);
    take();
    EXPECT_TRUE(answer(0, {{0, outcome(broken)}}).stop);
    EXPECT_EQ(commit(), 0U);
  }
}

TEST_F(LaneFailure, TooManyDeadLettersStopTheConnectorAtOnce) {
  start();
  add(read(0, 300));
  take();
  std::vector<std::pair<std::uint32_t, plugin::Outcome>> failures;
  for (std::uint32_t i = 0; i < 300; ++i) failures.emplace_back(i, outcome(OutcomeClass::kPermanent));
  const auto verdict = answer(300, failures);
  ASSERT_TRUE(verdict.stop);
  EXPECT_EQ(verdict.stop->code, "pipeline.dead_letter_ratio");
  EXPECT_EQ(lane_->doomed().size(), 100U);
  lane_->buried(100);
  EXPECT_EQ(commit(), 100U);
}

TEST_F(LaneFailure, WithoutOrderOnlyFailuresAreRetried) {
  options_.ordering = Ordering::kNone;
  start();
  add(read(0, 3));
  take();
  answer(3, {{1, outcome(OutcomeClass::kTransient)}});
  add(read(3, 5));
  EXPECT_EQ(take(), (Offsets{3, 4}));
  answer(5);
  EXPECT_EQ(commit(), 1U);
  now_ += 10s;
  EXPECT_EQ(take(), (Offsets{1}));
  answer(2);
  lane_->flushed();
  EXPECT_EQ(commit(), 5U);
}

TEST_F(LaneFailure, WithoutOrderWaitingRecordsAreBounded) {
  options_.ordering = Ordering::kNone;
  options_.batching.records_max = 600;
  start();
  add(read(0, 3000));
  std::vector<std::pair<std::uint32_t, plugin::Outcome>> failures;
  for (std::uint32_t i = 0; i < 600; ++i) failures.emplace_back(i, outcome(OutcomeClass::kTransient));
  EXPECT_EQ(take().size(), 600U);
  answer(600, failures);
  EXPECT_EQ(take().size(), 600U);
  answer(1200, failures);
  EXPECT_EQ(take(), Offsets{});
}

TEST_F(LaneFailure, ByKeyRecordsOfAFailedKeyWaitAndOthersGoOn) {
  options_.ordering = Ordering::kKey;
  start();
  add(read(0, 3, "aba"));
  take();
  answer(3, {{0, outcome(OutcomeClass::kTransient)}});
  add(read(3, 7, "abac"));
  EXPECT_EQ(take(), (Offsets{4, 6}));
  answer(7);
  EXPECT_EQ(take(), Offsets{});
  EXPECT_GT(*lane_->next_at(now_), now_);
  now_ += 10s;
  EXPECT_EQ(take(), (Offsets{0}));
  answer(1);
  lane_->flushed();
  EXPECT_EQ(take(), (Offsets{3}));
  answer(4);
  lane_->flushed();
  EXPECT_EQ(take(), (Offsets{5}));
  answer(6);
  lane_->flushed();
  EXPECT_EQ(commit(), 7U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 7}));
}

TEST_F(LaneFailure, ByKeyAnAbsentKeyIsAKeyOfItsOwn) {
  options_.ordering = Ordering::kKey;
  start();
  add(read(0, 1));
  take();
  answer(0, {{0, outcome(OutcomeClass::kTransient)}});
  add(read(1, 2));
  EXPECT_EQ(take(), Offsets{});
  add(read(2, 3, "k"));
  EXPECT_EQ(take(), (Offsets{2}));
}

// Any sink behaviour within the contract: nothing is lost, nothing taken is sent again, order is kept where it was promised.
TEST_F(LaneFailure, DeliversEverythingExactlyOnceUnderRandomFailures) {
  const std::uint64_t seed = system_random().next();
  std::cout << "seed " << seed << "\n";
  SeededRandom dice(seed);
  for (int round = 0; round < 90; ++round) {
    options_.ordering = std::array{Ordering::kPartition, Ordering::kKey, Ordering::kNone}[round % 3];
    options_.batching.records_max = 1 + static_cast<std::uint32_t>(dice.below(20));
    options_.commit_before_next = dice.below(2) == 0;
    window_ = OutcomeWindow(1.0);
    reported_ = 0;
    start();
    std::vector<int> delivered(300), dead(300);
    std::vector<std::uint64_t> last_of_key(4);
    std::uint64_t read_to = 0, last = 0;
    for (int step = 0; step < 20'000 && lane_->progress().committed_next().value() < 300; ++step) {
      if (read_to < 300 && lane_->fresh_records() < 30) {
        const std::uint64_t to = std::min<std::uint64_t>(300, read_to + 1 + dice.below(40));
        std::string keys;
        for (std::uint64_t o = read_to; o < to; ++o) keys.push_back(static_cast<char>(o * 7 % 4));
        add(read(read_to, to, keys));
        read_to = to;
      }
      const Offsets offsets = take();
      if (!offsets.empty()) {
        std::vector<std::pair<std::uint32_t, plugin::Outcome>> failures;
        std::uint64_t accepted = offsets.front();
        for (std::uint32_t i = 0; i < offsets.size(); ++i) {
          const std::uint64_t o = offsets[i];
          const auto roll = dice.below(20);
          if (roll == 0) {
            failures.emplace_back(i, outcome(OutcomeClass::kTransient));
            if (options_.ordering != Ordering::kNone) break;  // such a sink ends the attempt at its first failure
            accepted = o + 1;
            continue;
          }
          accepted = o + 1;
          if (roll == 1) {
            failures.emplace_back(i, outcome(OutcomeClass::kPermanent));
            ++dead[o];
            continue;
          }
          ++delivered[o];
          if (options_.ordering == Ordering::kPartition) {
            ASSERT_TRUE(last == 0 || o >= last);
            last = o + 1;
          } else if (options_.ordering == Ordering::kKey) {
            ASSERT_GE(o + 1, last_of_key[o * 7 % 4]);
            last_of_key[o * 7 % 4] = o + 1;
          }
          if (dice.below(30) == 0) break;
        }
        std::optional<plugin::Outcome> failure;
        if (dice.below(15) == 0) failure = outcome(OutcomeClass::kTransient, Scope::kConnector);
        const std::uint64_t durable = dice.below(3) == 0 ? offsets.front() : accepted;
        ASSERT_FALSE(answer(accepted, failures, durable, failure).stop);
      }
      if (!lane_->doomed().empty()) lane_->buried(1 + dice.below(lane_->doomed().size()));
      if (lane_->must_flush() || dice.below(6) == 0) lane_->flushed();
      if (dice.below(2) == 0) commit();
      now_ += std::chrono::milliseconds(dice.below(400));
    }
    ASSERT_EQ(lane_->progress().committed_next(), Offset(300)) << "round " << round;
    for (std::size_t o = 0; o < 300; ++o) ASSERT_EQ(delivered[o] + dead[o], 1) << "offset " << o << " round " << round;
    ASSERT_EQ(accounting().sum(), 300U);
  }
}

}  // namespace
}  // namespace sluice::pipeline
