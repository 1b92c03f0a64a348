// SPDX-License-Identifier: Apache-2.0
#include "core/node/retention.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sluice::node {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr TimestampUs kNow{1'700'000'000'000'000};

TimestampUs ago(std::chrono::microseconds time) {
  return kNow - time.count();
}

// Ten records and 100 bytes a segment, the newest `age` old; the active one has as many.
struct World {
  Retained partition{};

  World& segment(std::chrono::microseconds age) {
    const std::uint64_t n = partition.whole.size() + 1;
    partition.whole.push_back({Op(n * 10 - 9), Op(n * 10), Offset(n * 10), ago(age), 100});
    return active(age);
  }
  World& active(std::chrono::microseconds age) {
    partition.last_timestamp = ago(age);
    partition.next = Offset((partition.whole.size() + 1) * 10);
    partition.unread = partition.next;
    partition.size_bytes = (partition.whole.size() + 1) * 100;
    return *this;
  }
  World& read_up_to(std::uint64_t offset) {
    partition.unread = Offset(offset);
    return *this;
  }
  World& trimmed_to(std::uint64_t offset) {
    partition.floor = Offset(offset);
    return *this;
  }
  [[nodiscard]] RetentionVerdict judge(const metadata::RetentionOptions& options) const {
    return judge_retention(options, partition, kNow);
  }
};

World three_segments() {
  return World().segment(hours(30)).segment(hours(20)).segment(hours(10)).active(hours(1));
}

TEST(Retention, KeepsEverythingByDefault) {
  const RetentionVerdict verdict = three_segments().judge({});
  EXPECT_EQ(verdict.floor, Offset(0));
  EXPECT_FALSE(verdict.look_again.has_value());
}

TEST(Retention, BySizeTakesNoMoreSegmentsThanItNeeds) {
  EXPECT_EQ(three_segments().judge({.bytes = 400}).floor, Offset(0));
  EXPECT_EQ(three_segments().judge({.bytes = 399}).floor, Offset(10));
  EXPECT_EQ(three_segments().judge({.bytes = 200}).floor, Offset(20));
  EXPECT_EQ(three_segments().judge({.bytes = 1}).floor, Offset(30)) << "the active one stays";
}

TEST(Retention, ByAgeTakesASegmentOnceItsNewestEntryIsThatOld) {
  EXPECT_EQ(three_segments().judge({.age = hours(30)}).floor, Offset(10));
  EXPECT_EQ(three_segments().judge({.age = hours(30) + std::chrono::milliseconds(1)}).floor, Offset(0));
  EXPECT_EQ(three_segments().judge({.age = hours(5)}).floor, Offset(30));
  EXPECT_FALSE(three_segments().judge({.age = hours(5)}).roll);
}

TEST(Retention, ByAgeTakesWhatAQuietPartitionHas) {
  World quiet = three_segments().active(hours(5));
  const RetentionVerdict verdict = quiet.judge({.age = hours(5)});
  EXPECT_EQ(verdict.floor, Offset(40));
  EXPECT_TRUE(verdict.roll);
  EXPECT_FALSE(verdict.look_again.has_value()) << "nothing is left that could expire";
  EXPECT_FALSE(quiet.trimmed_to(40).judge({.age = hours(5)}).roll) << "once";
}

TEST(Retention, TheSmallerOfSizeAndAgeCounts) {
  EXPECT_EQ(three_segments().judge({.bytes = 400, .age = hours(15)}).floor, Offset(20));
  EXPECT_EQ(three_segments().judge({.bytes = 100, .age = hours(25)}).floor, Offset(30));
}

TEST(Retention, WaitsForTheSlowestConsumer) {
  World world = three_segments().active(hours(10));
  EXPECT_EQ(world.read_up_to(19).judge({.wait_for_consumers = true, .age = hours(5)}).floor, Offset(10));
  EXPECT_EQ(world.read_up_to(39).judge({.wait_for_consumers = true, .age = hours(5)}).floor, Offset(30));
  EXPECT_EQ(world.read_up_to(40).judge({.wait_for_consumers = true, .age = hours(5)}).floor, Offset(40));
  EXPECT_EQ(world.read_up_to(0).judge({.age = hours(5)}).floor, Offset(40)) << "if it is told to";
}

TEST(Retention, BeyondHardBytesWaitsForNobody) {
  World world = three_segments().read_up_to(0);
  EXPECT_EQ(world.judge({.bytes = 100, .wait_for_consumers = true, .hard_bytes = 400}).floor, Offset(0));
  EXPECT_EQ(world.judge({.bytes = 100, .wait_for_consumers = true, .hard_bytes = 300}).floor, Offset(10));
  EXPECT_EQ(world.judge({.wait_for_consumers = true, .hard_bytes = 1, .age = hours(99)}).floor, Offset(30));
}

TEST(Retention, WhatIsTrimmedAlreadyCountsAsGone) {
  EXPECT_EQ(three_segments().trimmed_to(10).judge({.bytes = 300}).floor, Offset(10));
  EXPECT_EQ(three_segments().trimmed_to(10).read_up_to(0).judge({.bytes = 200, .hard_bytes = 200}).floor, Offset(20));
}

TEST(Retention, LooksAgainWhenTheNextSegmentExpires) {
  EXPECT_EQ(three_segments().judge({.age = hours(30) + minutes(3)}).look_again, minutes(3));
  EXPECT_EQ(three_segments().judge({.age = hours(20) + minutes(4)}).look_again, minutes(4)) << "the first one goes now";
  EXPECT_EQ(three_segments().judge({.age = hours(1) + minutes(5)}).look_again, minutes(5)) << "the active one";
  EXPECT_EQ(three_segments().judge({.age = hours(9000)}).look_again, kRetentionLookMax);
  EXPECT_EQ(three_segments().judge({.age = hours(30) + std::chrono::milliseconds(1)}).look_again, kRetentionLookMin);
  EXPECT_EQ(three_segments().read_up_to(0).judge({.wait_for_consumers = true, .age = hours(5)}).look_again, kRetentionLookMax);
  EXPECT_FALSE(World().judge({.age = hours(5)}).look_again.has_value()) << "an empty partition";
}

TEST(Retention, TimestampsAheadOfTheClockAreKeptAndDoNotOverflow) {
  World world = three_segments();
  for (log::EntryLog::SegmentInfo& segment : world.partition.whole) {
    segment.last_timestamp = TimestampUs(std::numeric_limits<std::int64_t>::max());
  }
  const RetentionVerdict verdict = world.judge({.age = metadata::kRetentionAgeMax});
  EXPECT_EQ(verdict.floor, Offset(0));
  EXPECT_EQ(verdict.look_again, kRetentionLookMax);
  world.partition.whole.clear();
  world.partition.last_timestamp = TimestampUs(std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(world.judge({.age = metadata::kRetentionAgeMax}).roll);
}

TEST(Retention, ASegmentTakesEntriesForAPartOfTheAge) {
  const metadata::RetentionOptions options{.age = hours(4)};
  EXPECT_FALSE(roll_is_due(options, ago(minutes(59)), kNow));
  EXPECT_TRUE(roll_is_due(options, ago(minutes(60)), kNow));
  EXPECT_FALSE(roll_is_due({.bytes = 1}, ago(hours(9000)), kNow));
}

}  // namespace
}  // namespace sluice::node
