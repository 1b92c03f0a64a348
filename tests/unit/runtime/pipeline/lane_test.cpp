// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/lane.hpp"

#include "tests/unit/runtime/pipeline/lane_fixture.hpp"

namespace sluice::pipeline {
namespace {

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

TEST_F(LaneTest, ADeadLetterBelowWhatTheSinkHasIsNotCountedAsDelivered) {
  lane_.emplace(options_, PartitionProgress(Offset(0), Offset(0), {}), Offset(6), std::set<Offset>{Offset(2), Offset(4)});
  add(read(0, 8));
  EXPECT_EQ(take(), (Offsets{6, 7}));
  (void)answer(8);
  EXPECT_EQ(commit(), 8U);
  EXPECT_EQ(accounting(), (client::Accounting{.delivered = 6, .dead_lettered = 2}));
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

}  // namespace
}  // namespace sluice::pipeline
