// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/lane.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sluice::pipeline {
namespace {

using namespace std::chrono_literals;
using config::Disposition;
using config::Ordering;
using plugin::OutcomeClass;
using plugin::Scope;

plugin::Outcome outcome(OutcomeClass outcome_class, Scope scope = Scope::kRecord) {
  plugin::Outcome out;
  out.outcome_class = outcome_class;
  out.scope = scope;
  out.code = "test.failed";
  out.text = "no";
  return out;
}

struct OwnedRead {
  std::vector<Record> records;
  client::ReadResult result;
};

// A read of the given offsets, each with the key of its place in `keys`.
std::shared_ptr<const client::ReadResult> read(std::uint64_t from, const std::vector<std::uint64_t>& offsets, std::uint64_t next,
                                               std::string_view keys = {}) {
  auto owned = std::make_shared<OwnedRead>();
  owned->records.resize(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Bytes payload = as_bytes("0123456789");
    owned->records[i].payload.emplace(payload.begin(), payload.end());
    if (!keys.empty()) owned->records[i].key = ByteVector{static_cast<std::byte>(keys[i])};
    owned->result.records.push_back({Offset(offsets[i]), TimestampUs(1), owned->records[i].view()});
  }
  owned->result.next = Offset(next);
  owned->result.gap_offsets = next - from - offsets.size();
  return {owned, &owned->result};
}

std::shared_ptr<const client::ReadResult> read(std::uint64_t from, std::uint64_t next, std::string_view keys = {}) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t offset = from; offset < next; ++offset) offsets.push_back(offset);
  return read(from, offsets, next, keys);
}

// A lane with the rest of the worker around it, reduced to what a test wants to see.
class LaneTest : public testing::Test {
 protected:
  LaneTest() { options_.commit_before_next = false; }

  void start(std::uint64_t committed = 0, std::uint64_t resume = 0) {
    lane_.emplace(options_, PartitionProgress(Offset(committed), Offset(committed), {}), Offset(std::max(committed, resume)));
  }
  void add(std::shared_ptr<const client::ReadResult> result) { ASSERT_TRUE(lane_->add(std::move(result), now_)); }
  std::vector<std::uint64_t> take(std::uint64_t max = 1'000'000) {
    std::vector<std::uint64_t> offsets;
    if (!lane_->take(now_, max, batch_)) return offsets;
    for (const auto& item : batch_.items) offsets.push_back(item.record->offset.value());
    in_flight_ = batch_.offered_before ? 0 : offsets.size();
    return offsets;
  }
  // Answers the batch that was taken last. `durable` absent: durable as far as accepted.
  LaneVerdict answer(std::uint64_t accepted_next, std::vector<std::pair<std::uint32_t, plugin::Outcome>> failures = {},
                     std::optional<std::uint64_t> durable = std::nullopt, std::optional<plugin::Outcome> failure = std::nullopt) {
    plugin::WriteReport report{
        Offset(accepted_next), Offset(std::max(durable.value_or(accepted_next), reported_)), {}, {}, std::move(failure)};
    reported_ = report.durable_next.value();
    for (auto& [index, why] : failures) report.failures.push_back({index, std::move(why)});
    const LaneVerdict verdict = lane_->wrote(batch_, report, window_, now_, random_);
    in_flight_ = 0;
    expect_identity();
    return verdict;
  }
  std::uint64_t commit() {
    const auto commit = lane_->begin_commit();
    if (!commit) return lane_->progress().committed_next().value();
    lane_->commit_succeeded();
    expect_identity();
    return commit->next.value();
  }
  // in = every bucket + pending, with pending counted from the queues.
  void expect_identity() {
    const PartitionProgress& progress = lane_->progress();
    std::uint64_t pending = lane_->queued_records() + in_flight_;
    EXPECT_EQ(pending, progress.count(Fate::kPending));
    for (const Fate fate :
         {Fate::kAccepted, Fate::kDelivered, Fate::kFiltered, Fate::kSkipped, Fate::kDeadLettered, Fate::kExpired, Fate::kGap}) {
      pending += progress.count(fate);
    }
    EXPECT_EQ(progress.accounting().sum() + pending, progress.read_next() - progress.start_offset());
  }
  const client::Accounting& accounting() { return lane_->progress().accounting(); }

  LaneOptions options_;
  std::optional<Lane> lane_;
  LaneBatch batch_;
  OutcomeWindow window_{0.5};
  SeededRandom random_{1};
  Instant now_ = 1000s;
  std::uint64_t reported_ = 0;
  std::uint64_t in_flight_ = 0;  // fresh records that were taken and not answered
};
using Offsets = std::vector<std::uint64_t>;

TEST_F(LaneTest, DeliversInBatchesAndCommitsThem) {
  options_.batching.records_max = 3;
  start();
  add(read(0, 5));
  EXPECT_EQ(take(), (Offsets{0, 1, 2}));
  EXPECT_EQ(answer(3).taken, 3U);
  EXPECT_EQ(take(), (Offsets{3, 4}));
  EXPECT_EQ(commit(), 3U);
  answer(5);
  EXPECT_EQ(commit(), 5U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 5}));
  EXPECT_TRUE(lane_->progress().drained());
  EXPECT_EQ(take(), Offsets{});
}

TEST_F(LaneTest, ABatchMaySpanReads) {
  start();
  add(read(0, 2));
  add(read(2, 4));
  EXPECT_EQ(take(), (Offsets{0, 1, 2, 3}));
  answer(4);
  EXPECT_EQ(commit(), 4U);
}

TEST_F(LaneTest, ClosesABatchByBytes) {
  options_.batching.bytes_max = 25;
  start();
  add(read(0, 3));
  EXPECT_EQ(take(), (Offsets{0, 1}));
}

TEST_F(LaneTest, OneRecordGoesEvenIfItIsLargerThanABatch) {
  options_.batching.bytes_max = 3;
  start();
  add(read(0, 2));
  EXPECT_EQ(take(), (Offsets{0}));
}

TEST_F(LaneTest, LingersUntilTheBatchIsFullOrTheTimeIsUp) {
  options_.batching.linger = 50ms;
  options_.batching.records_max = 3;
  start();
  add(read(0, 2));
  EXPECT_EQ(take(), Offsets{});
  EXPECT_EQ(lane_->next_at(now_), now_ + 50ms);
  now_ += 50ms;
  EXPECT_EQ(take(), (Offsets{0, 1}));
  answer(2);
  add(read(2, 5));
  EXPECT_EQ(take(), (Offsets{2, 3, 4}));
}

TEST_F(LaneTest, CountsGapsAndStepsOverThem) {
  start();
  add(read(0, Offsets{1, 4}, 6));
  EXPECT_EQ(take(), (Offsets{1, 4}));
  answer(5);
  EXPECT_EQ(commit(), 6U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 2, .gap = 4}));
}

TEST_F(LaneTest, RefusesAReadWithUnexplainedHoles) {
  start();
  auto broken = std::make_shared<client::ReadResult>(*read(0, Offsets{0, 3}, 4));
  broken->gap_offsets = 1;
  EXPECT_FALSE(lane_->add(broken, now_));
  EXPECT_EQ(lane_->read_next(), Offset(0));
}

TEST_F(LaneTest, ExpiredOffsetsAreCounted) {
  start();
  EXPECT_EQ(lane_->expire(Offset(7)), 7U);
  add(read(7, 8));
  take();
  answer(8);
  EXPECT_EQ(commit(), 8U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 1, .expired = 7}));
}

TEST_F(LaneTest, WhatTheSinkHasIsCountedButNotWritten) {
  start(2, 5);
  add(read(2, Offsets{2, 4, 5, 6}, 7));
  EXPECT_EQ(take(), (Offsets{5, 6}));
  EXPECT_EQ(commit(), 5U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 2, .gap = 1}));
  answer(7);
  EXPECT_EQ(commit(), 7U);
}

TEST_F(LaneTest, AcceptedIsNotCommittedUntilDurable) {
  start();
  add(read(0, 4));
  take();
  answer(4, {}, 1);
  EXPECT_EQ(commit(), 1U);
  EXPECT_TRUE(lane_->unflushed());
  lane_->durable(Offset(3));
  EXPECT_EQ(commit(), 3U);
  lane_->flushed();
  EXPECT_EQ(commit(), 4U);
  EXPECT_FALSE(lane_->unflushed());
}

TEST_F(LaneTest, StopsAtTheUnackedRecordLimit) {
  options_.batching.records_max = 2;
  options_.batching.unacked_records_max = 4;
  start();
  add(read(0, 9));
  take();
  answer(2, {}, 0);
  EXPECT_FALSE(lane_->must_flush());
  take();
  answer(4, {}, 0);
  EXPECT_TRUE(lane_->must_flush());
  EXPECT_EQ(take(), Offsets{});
  lane_->flushed();
  EXPECT_EQ(take(), (Offsets{4, 5}));
}

TEST_F(LaneTest, StopsAtTheUnackedByteLimit) {
  options_.batching.records_max = 2;
  options_.batching.unacked_bytes_max = 30;
  start();
  add(read(0, 9));
  take();
  answer(2, {}, 0);
  take();
  answer(4, {}, 0);
  EXPECT_TRUE(lane_->must_flush());
}

TEST_F(LaneTest, WritesNothingBeforeTheLastCommitWhenAskedSo) {
  options_.commit_before_next = true;
  options_.batching.records_max = 2;
  start();
  add(read(0, 4));
  take();
  answer(2);
  EXPECT_EQ(take(), Offsets{});
  ASSERT_TRUE(lane_->begin_commit());
  EXPECT_EQ(take(), Offsets{});
  lane_->commit_succeeded();
  EXPECT_EQ(take(), (Offsets{2, 3}));
}

TEST_F(LaneTest, AFailedCommitIsOfferedAgain) {
  start();
  add(read(0, 2));
  take();
  answer(2);
  ASSERT_TRUE(lane_->begin_commit());
  EXPECT_FALSE(lane_->begin_commit());
  lane_->commit_failed();
  EXPECT_EQ(commit(), 2U);
}

TEST_F(LaneTest, PermanentBecomesADeadLetterBeforeTheOffsetMoves) {
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

TEST_F(LaneTest, NothingIsWrittenWhileADeadLetterIsUnderWay) {
  start();
  add(read(0, 4));
  take(2);
  answer(2, {{1, outcome(OutcomeClass::kPermanent)}});
  EXPECT_EQ(take(), Offsets{});
  lane_->buried(1);
  EXPECT_EQ(take(), (Offsets{2, 3}));
}

TEST_F(LaneTest, PermanentMaySkip) {
  options_.failure.record = Disposition::kSkip;
  start();
  add(read(0, 2));
  take();
  answer(2, {{0, outcome(OutcomeClass::kPermanent)}});
  EXPECT_EQ(commit(), 2U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 1, .skipped = 1}));
}

TEST_F(LaneTest, PermanentMayStopTheConnectorAndMovesNothing) {
  options_.failure.record = Disposition::kStop;
  start();
  add(read(0, 2));
  take();
  const auto verdict = answer(0, {{0, outcome(OutcomeClass::kPermanent)}});
  ASSERT_TRUE(verdict.stop);
  EXPECT_EQ(verdict.stop->text, "no");
  EXPECT_EQ(commit(), 0U);
}

TEST_F(LaneTest, InOrderATransientFailureHoldsEverythingBehindIt) {
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

TEST_F(LaneTest, FreshRecordsQueueBehindAFailureInOrder) {
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

TEST_F(LaneTest, AWholeRequestMayFailRecordByRecord) {
  start();
  add(read(0, 3));
  take();
  answer(3, {{0, outcome(OutcomeClass::kTransient)}, {1, outcome(OutcomeClass::kTransient)}, {2, outcome(OutcomeClass::kTransient)}});
  EXPECT_EQ(take(), Offsets{});
  now_ += 10s;
  EXPECT_EQ(take(), (Offsets{0, 1, 2}));
}

TEST_F(LaneTest, WhatASinkTookBeyondAFailureIsNotSentAgain) {
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

TEST_F(LaneTest, ASinkWithItsOwnPositionsMustNotGoOnAfterAFailure) {
  options_.own_positions = true;
  start();
  add(read(0, 4));
  take();
  const auto verdict = answer(4, {{1, outcome(OutcomeClass::kPermanent)}});
  ASSERT_TRUE(verdict.stop);
  EXPECT_EQ(verdict.stop->outcome_class, OutcomeClass::kFatal);
  EXPECT_TRUE(lane_->doomed().empty());
}

TEST_F(LaneTest, TransientUsesUpItsAttemptsAndThenFollowsThePolicy) {
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

TEST_F(LaneTest, AmbiguousIsRetriedAndCounted) {
  start();
  add(read(0, 1));
  take();
  const auto verdict = answer(0, {{0, outcome(OutcomeClass::kAmbiguous)}});
  EXPECT_EQ(verdict.ambiguous, 1U);
  EXPECT_EQ(verdict.retries, 1U);
  now_ += 10s;
  EXPECT_EQ(take(), (Offsets{0}));
}

TEST_F(LaneTest, RetryAfterSetsTheWait) {
  start();
  add(read(0, 1));
  take();
  auto later = outcome(OutcomeClass::kTransient);
  later.retry_after = 7s;
  answer(0, {{0, later}});
  EXPECT_EQ(lane_->next_at(now_), now_ + 7s);
}

TEST_F(LaneTest, ConnectorScopeMovesNothingAndCostsNoAttempt) {
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

TEST_F(LaneTest, ConnectorScopeAfterSomeWereTakenOffersTheRest) {
  start();
  add(read(0, 4));
  take();
  answer(2, {}, std::nullopt, outcome(OutcomeClass::kTransient, Scope::kConnector));
  EXPECT_EQ(commit(), 2U);
  EXPECT_EQ(take(), (Offsets{2, 3}));
}

TEST_F(LaneTest, PermanentOfScopeConnectorIsWaitedForToo) {
  start();
  add(read(0, 1));
  take();
  const auto verdict = answer(0, {}, std::nullopt, outcome(OutcomeClass::kPermanent, Scope::kConnector));
  EXPECT_TRUE(verdict.connector_failure);
  EXPECT_FALSE(verdict.stop);
}

TEST_F(LaneTest, FatalAndInvalidConfigStop) {
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

TEST_F(LaneTest, TooManyDeadLettersStopTheConnectorAtOnce) {
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

TEST_F(LaneTest, WithoutOrderOnlyFailuresAreRetried) {
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

TEST_F(LaneTest, WithoutOrderWaitingRecordsAreBounded) {
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

TEST_F(LaneTest, ByKeyRecordsOfAFailedKeyWaitAndOthersGoOn) {
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

TEST_F(LaneTest, ByKeyAnAbsentKeyIsAKeyOfItsOwn) {
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
TEST_F(LaneTest, DeliversEverythingExactlyOnceUnderRandomFailures) {
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
