// SPDX-License-Identifier: Apache-2.0
#include "core/log/prewriter.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using log::kPrewriteAheadMax;
using log::kPrewriteStepBytes;
using std::chrono::milliseconds;

constexpr std::uint64_t kNoEnd = 1ULL << 40;
constexpr std::uint64_t kFlush = 12'000;

class PrewriterTest : public ::testing::Test {
 protected:
  // A flush of so many bytes; its step is written at once. Whether there was one.
  bool flush(std::uint64_t bytes = kFlush) {
    end_ += bytes;
    const auto step = writer_->next(end_, bytes, now_);
    if (!step) return false;
    EXPECT_GE(step->begin, end_);
    EXPECT_EQ(step->begin % log::kPrewriteAlignment, 0U);
    EXPECT_LE(step->end - step->begin, kPrewriteStepBytes);
    zeros_end_ = step->end;
    writer_->on_done();
    return true;
  }
  [[nodiscard]] std::uint64_t ahead() const { return zeros_end_ - std::min(zeros_end_, end_); }
  void restart(std::uint64_t budget, std::uint64_t segment_bytes = kNoEnd) {
    budget_ = std::make_shared<log::PrewriteBudget>(budget);
    writer_ = std::make_unique<log::Prewriter>(budget_, segment_bytes);
  }

  std::shared_ptr<log::PrewriteBudget> budget_ = std::make_shared<log::PrewriteBudget>(1ULL << 30);
  std::unique_ptr<log::Prewriter> writer_ = std::make_unique<log::Prewriter>(budget_, kNoEnd);
  Clock::Monotonic now_{std::chrono::hours(5)};
  std::uint64_t end_ = 5000;
  std::uint64_t zeros_end_ = 0;
};
using Prewriting = PrewriterTest;

TEST_F(Prewriting, BeginsWithTheFirstFlushAndKeepsAtLeastHalfAStepAhead) {
  EXPECT_TRUE(flush());
  EXPECT_EQ(ahead(), kPrewriteStepBytes + 408) << "a step behind the next sector";
  int steps = 0;
  for (int i = 0; i < 100; ++i) {
    now_ += milliseconds(100);
    steps += flush() ? 1 : 0;
    EXPECT_GE(ahead(), kPrewriteStepBytes / 2 - kFlush);
    EXPECT_LE(ahead(), kPrewriteStepBytes + kPrewriteStepBytes / 2);
  }
  EXPECT_LE(steps, 10) << "one flush in ten, not every one, makes the file grow";
}

TEST_F(Prewriting, ReachesAsFarAsTheBytesOfASecond) {
  for (int i = 0; i < 3000; ++i) {
    now_ += milliseconds(2);
    flush();
  }
  EXPECT_NEAR(static_cast<double>(ahead()), 500.0 * kFlush, 2.0 * kPrewriteStepBytes);
  for (int i = 0; i < 60'000; ++i) {
    now_ += std::chrono::microseconds(100);
    flush();
  }
  EXPECT_LE(ahead(), kPrewriteAheadMax);
  EXPECT_GT(ahead(), kPrewriteAheadMax - 2 * kPrewriteStepBytes);
  // After a pause there is enough for a while.
  now_ += std::chrono::seconds(60);
  EXPECT_FALSE(flush());
}

TEST_F(Prewriting, LeavesOutAFlushThatIsAsLargeAsAStep) {
  EXPECT_FALSE(flush(kPrewriteStepBytes));
  EXPECT_TRUE(flush(kPrewriteStepBytes - 1));
}

TEST_F(Prewriting, HasOneStepUnderWayAndSaysWhoseWayItIsIn) {
  const auto step = writer_->next(20'400, kFlush, now_);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->begin, 20'480U);
  EXPECT_FALSE(writer_->next(20'400, kFlush, now_));
  EXPECT_TRUE(writer_->under_way());
  EXPECT_FALSE(writer_->blocks(20'480));
  EXPECT_TRUE(writer_->blocks(20'481));
  writer_->on_done();
  EXPECT_FALSE(writer_->blocks(20'481));
  EXPECT_TRUE(writer_->reaches_beyond(20'480));
  EXPECT_FALSE(writer_->reaches_beyond(step->end));
}

TEST_F(Prewriting, EndsWhereTheSegmentDoes) {
  restart(1ULL << 30, 100'000);
  EXPECT_TRUE(flush());
  EXPECT_EQ(zeros_end_, 100'000U);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(flush());
}

TEST_F(Prewriting, TakesNoMoreThanItsNodeHas) {
  restart(kPrewriteStepBytes + 1000);
  EXPECT_TRUE(flush());
  log::Prewriter other(budget_, kNoEnd);
  EXPECT_FALSE(other.next(20'000, kFlush, now_));
  // What entries have filled, and what is cut off, is free again.
  EXPECT_EQ(budget_->left(), 1000U);
  flush();
  EXPECT_GT(budget_->left(), 1000U);
  writer_->cut();
  EXPECT_EQ(budget_->left(), kPrewriteStepBytes + 1000);
  EXPECT_TRUE(other.next(20'000, kFlush, now_));
}

TEST_F(Prewriting, GivesBackWhatItHoldsWhenItsLogIsGone) {
  ASSERT_TRUE(flush());
  writer_.reset();
  EXPECT_EQ(budget_->left(), 1ULL << 30);
}

TEST_F(Prewriting, StopsOnAFullDiskUntilTheFileIsCut) {
  ASSERT_TRUE(flush());
  writer_->stop();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(flush());
  writer_->cut();
  EXPECT_TRUE(flush());
}

TEST(PrewriterAlone, WritesNothingWithoutABudget) {
  log::Prewriter writer(nullptr, kNoEnd);
  EXPECT_FALSE(writer.next(20'000, kFlush, Clock::Monotonic{}));
}

}  // namespace
}  // namespace sluice::test
