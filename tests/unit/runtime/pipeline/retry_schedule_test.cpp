// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/retry_schedule.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"

namespace sluice::pipeline {
namespace {

using namespace std::chrono_literals;

TEST(RetrySchedule, DoublesFromOneSecondToOneMinute) {
  SeededRandom random(1);
  RetrySchedule schedule(RetryPolicies{}.connector);
  Instant now = 5s;
  Instant expected = 1s;
  for (int attempt = 1; attempt < 200; ++attempt) {
    schedule.failed(now, random.next());
    const Instant wait = schedule.due_at() - now;
    EXPECT_GE(wait, expected * 8 / 10 - 1ms) << attempt;
    EXPECT_LE(wait, std::min<Instant>(expected * 12 / 10 + 1ms, 60s)) << attempt;
    EXPECT_TRUE(schedule.waiting(now));
    now = schedule.due_at();
    EXPECT_FALSE(schedule.waiting(now));
    expected = std::min<Instant>(expected * 2, 60s);
  }
  EXPECT_EQ(schedule.attempts(), 199U);
}

TEST(RetrySchedule, SuccessStartsAnew) {
  RetrySchedule schedule(RetryPolicies{}.connector);
  schedule.failed(0s, 0);
  schedule.failed(0s, 0);
  schedule.succeeded();
  EXPECT_EQ(schedule.attempts(), 0U);
  EXPECT_FALSE(schedule.waiting(0s));
  schedule.failed(0s, 0);
  EXPECT_LE(schedule.due_at(), Instant(1200ms));
}

TEST(RetrySchedule, HonoursRetryAfterUpToItsMaximum) {
  RetrySchedule schedule(RetryPolicies{}.connector);
  schedule.failed(0s, 0, Duration(7000));
  EXPECT_EQ(schedule.due_at(), Instant(7s));
  schedule.failed(0s, 0, Duration(3'600'000));
  EXPECT_EQ(schedule.due_at(), Instant(60s));
}

TEST(RecordRetry, UnlimitedNeverEnds) {
  RecordRetry retry;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(retry.failed(std::chrono::hours(i), RetryPolicies{}.record, {}, 0, std::nullopt), RecordRetry::Verdict::kRetry);
  }
}

TEST(RecordRetry, EndsAfterTheConfiguredAttempts) {
  const config::TransientPolicy limits{.attempts_max = 3, .duration_max = std::nullopt};
  RecordRetry retry;
  EXPECT_EQ(retry.failed(0s, RetryPolicies{}.record, limits, 0, std::nullopt), RecordRetry::Verdict::kRetry);
  EXPECT_EQ(retry.failed(1s, RetryPolicies{}.record, limits, 0, std::nullopt), RecordRetry::Verdict::kRetry);
  EXPECT_EQ(retry.failed(2s, RetryPolicies{}.record, limits, 0, std::nullopt), RecordRetry::Verdict::kExhausted);
  EXPECT_EQ(retry.attempts(), 3U);
}

TEST(RecordRetry, OneAttemptMeansNoRetry) {
  const config::TransientPolicy limits{.attempts_max = 1, .duration_max = std::nullopt};
  EXPECT_EQ(RecordRetry{}.failed(0s, RetryPolicies{}.record, limits, 0, std::nullopt), RecordRetry::Verdict::kExhausted);
}

TEST(RecordRetry, MakesItsLastAttemptWhenTheTimeIsUp) {
  const config::TransientPolicy limits{.attempts_max = std::nullopt, .duration_max = 10s};
  RecordRetry retry;
  Instant now = 100s;
  int attempts = 0;
  while (retry.failed(now, RetryPolicies{}.record, limits, 0, Duration(4000)) == RecordRetry::Verdict::kRetry) {
    now = retry.due_at();
    ++attempts;
  }
  EXPECT_EQ(now, Instant(110s));
  EXPECT_EQ(attempts, 3);  // at 104, 108 and 110
}

TEST(RecordRetry, IsDueAtOnceBeforeItsFirstFailure) {
  RecordRetry retry;
  EXPECT_TRUE(retry.due(0s));
}

}  // namespace
}  // namespace sluice::pipeline
