// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/rate_limit.hpp"

#include <gtest/gtest.h>

namespace sluice::pipeline {
namespace {

using namespace std::chrono_literals;

TEST(RateLimit, LetsEverythingPassWithoutALimit) {
  RateLimit limit(std::nullopt, 0s);
  EXPECT_GT(limit.available(0s), 1'000'000'000U);
  limit.take(1'000'000'000);
  EXPECT_GT(limit.available(0s), 1'000'000'000U);
}

TEST(RateLimit, KeepsTheRateOverTime) {
  RateLimit limit(100, 0s);
  std::uint64_t passed = 0;
  for (Clock::Monotonic now = 0s; now < 10s; now += 1ms) {
    const std::uint64_t n = limit.available(now);
    limit.take(n);
    passed += n;
  }
  EXPECT_GE(passed, 999U);
  EXPECT_LE(passed, 1001U);
}

TEST(RateLimit, BurstIsATenthOfASecond) {
  RateLimit limit(1000, 0s);
  EXPECT_EQ(limit.available(3600s), 100U);
}

TEST(RateLimit, SaysWhenTheNextRecordMayGo) {
  RateLimit limit(2, 0s);
  ASSERT_EQ(limit.available(0s), 1U);
  limit.take(1);
  ASSERT_EQ(limit.available(0s), 0U);
  const Clock::Monotonic next = limit.next_at();
  EXPECT_GE(next, Clock::Monotonic(500ms));
  EXPECT_LE(next, Clock::Monotonic(501ms));
  EXPECT_EQ(limit.available(next), 1U);
}

}  // namespace
}  // namespace sluice::pipeline
