// SPDX-License-Identifier: Apache-2.0
#include "core/node/scrub_pace.hpp"

#include <gtest/gtest.h>

namespace sluice::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ScrubPace, NeverPassesItsRate) {
  const ScrubPace pace(1u << 20);
  EXPECT_EQ(pace.next_after(seconds(10), seconds(10), 1u << 20), seconds(11));
  EXPECT_EQ(pace.next_after(seconds(10), seconds(10) + milliseconds(100), 1u << 19), seconds(10) + milliseconds(500));
  EXPECT_EQ(pace.next_after(seconds(10), seconds(10), 64ULL << 20), seconds(74)) << "one large entry";
}

TEST(ScrubPace, RestsAsLongAsTheDeviceTook) {
  const ScrubPace pace(kScrubRateMax);
  EXPECT_EQ(pace.next_after(seconds(10), seconds(13), kScrubStepBytes), seconds(16));
}

TEST(ScrubPace, KeepsItsRateToTheByte) {
  EXPECT_EQ(ScrubPace(1).next_after(seconds(0), seconds(0), kScrubStepBytes), seconds(kScrubStepBytes));
  EXPECT_EQ(ScrubPace(kScrubRateMax).next_after(seconds(0), seconds(0), kScrubRateMax - 1).count(), 999'999'999);
}

}  // namespace
}  // namespace sluice::node
