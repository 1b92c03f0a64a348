// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/samples.hpp"

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

using std::chrono::microseconds;

TEST(Samples, WithoutAnySayNothingAtAll) {
  EXPECT_FALSE(Samples().summary());
}

TEST(Samples, OfOneAreThatOneEverywhere) {
  Samples samples;
  samples.add(microseconds(7));
  const auto summary = samples.summary();
  ASSERT_TRUE(summary);
  for (const double figure : {summary->min_us, summary->p50_us, summary->p99_us, summary->p999_us, summary->max_us}) EXPECT_EQ(figure, 7);
}

TEST(Samples, GivePercentilesOfAllMergedLatencies) {
  Samples slow;
  for (int i = 501; i <= 1000; ++i) slow.add(microseconds(i));
  Samples samples;
  for (int i = 500; i >= 1; --i) samples.add(microseconds(i));
  samples.merge(slow);
  const auto summary = samples.summary();
  ASSERT_TRUE(summary);
  EXPECT_EQ(samples.count(), 1000U);
  EXPECT_EQ(summary->min_us, 1);
  EXPECT_EQ(summary->p50_us, 500);
  EXPECT_EQ(summary->p99_us, 990);
  EXPECT_EQ(summary->p999_us, 999);
  EXPECT_EQ(summary->max_us, 1000);
}

}  // namespace
}  // namespace sluice::bench
