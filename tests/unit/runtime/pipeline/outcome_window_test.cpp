// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/outcome_window.hpp"

#include <gtest/gtest.h>

namespace sluice::pipeline {
namespace {

TEST(OutcomeWindow, IsSilentBelowItsMinimum) {
  OutcomeWindow window(0.5);
  window.dead_lettered(99);
  EXPECT_FALSE(window.exceeded());
  window.dead_lettered();
  EXPECT_TRUE(window.exceeded());
}

TEST(OutcomeWindow, ExactlyTheRatioIsAllowed) {
  OutcomeWindow window(0.5);
  window.delivered(50);
  window.dead_lettered(50);
  EXPECT_FALSE(window.exceeded());
  window.dead_lettered();
  EXPECT_TRUE(window.exceeded());
}

TEST(OutcomeWindow, ForgetsWhatIsOlderThanItsMaximum) {
  OutcomeWindow window(0.5);
  window.dead_lettered(400);
  window.delivered(600);
  EXPECT_EQ(window.judged(), 1000U);
  window.delivered(300);
  EXPECT_EQ(window.judged(), 1000U);
  EXPECT_EQ(window.dead(), 100U);
  window.delivered(5'000'000'000);
  EXPECT_EQ(window.dead(), 0U);
  EXPECT_EQ(window.judged(), 1000U);
}

TEST(OutcomeWindow, RatioOfOneNeverStops) {
  OutcomeWindow window(1.0);
  window.dead_lettered(5000);
  EXPECT_FALSE(window.exceeded());
}

TEST(OutcomeWindow, RatioOfZeroStopsAtTheFirstOnceJudged) {
  OutcomeWindow window(0.0);
  window.delivered(100);
  EXPECT_FALSE(window.exceeded());
  window.dead_lettered();
  EXPECT_TRUE(window.exceeded());
}

}  // namespace
}  // namespace sluice::pipeline
