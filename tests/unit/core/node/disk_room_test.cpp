// SPDX-License-Identifier: Apache-2.0
#include "core/node/disk_room.hpp"

#include <gtest/gtest.h>

#include "core/log/errc.hpp"

namespace sluice::node {
namespace {

constexpr std::uint64_t kMebibyte = 1ULL << 20;
using Advice = DiskRoom::Advice;

// Of a file system of 100 GiB.
storage::Space mebibytes_left(std::uint64_t free) {
  return {.free = free * kMebibyte, .total = 100ULL << 30};
}

class DiskRoomTest : public ::testing::Test {
 protected:
  Advice observe(std::uint64_t mebibytes) { return room_.observe(mebibytes_left(mebibytes)); }
  DiskRoom room_;
};

TEST_F(DiskRoomTest, TakesItsReserveWhereThereIsRoomForIt) {
  EXPECT_EQ(observe(1000), Advice::kTakeReserve);
  room_.on_reserve(true);
  EXPECT_EQ(observe(984), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kEnough);
  EXPECT_FALSE(room_.refuses_messages());
  EXPECT_FALSE(room_.refuses_operations());
}

TEST_F(DiskRoomTest, RefusesMessagesFirstAndOperationsThen) {
  room_.on_reserve(true);
  EXPECT_EQ(observe(64), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kEnough);
  EXPECT_EQ(observe(63), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kLow);
  ASSERT_TRUE(room_.refuses_messages());
  EXPECT_TRUE(room_.refuses_messages()->is(log::Errc::kStorageFull));
  EXPECT_EQ(room_.refuses_messages()->kind(), ErrorKind::kRetry);
  EXPECT_FALSE(room_.refuses_operations());
  EXPECT_EQ(observe(15), Advice::kGiveUpReserve);
  EXPECT_EQ(room_.level(), RoomLevel::kFull);
  ASSERT_TRUE(room_.refuses_operations());
  EXPECT_TRUE(room_.refuses_operations()->is(log::Errc::kStorageFull));
}

TEST_F(DiskRoomTest, GivesTheRoomOfItsReserveToNobodyElse) {
  room_.on_reserve(true);
  EXPECT_EQ(observe(10), Advice::kGiveUpReserve);
  room_.on_reserve(false);
  EXPECT_EQ(observe(26), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kFull) << "16 of them are kept back";
  EXPECT_EQ(observe(40), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kLow);
}

TEST_F(DiskRoomTest, OpensWithMoreThanItClosesWith) {
  room_.on_reserve(true);
  EXPECT_EQ(observe(63), Advice::kNone);
  EXPECT_EQ(observe(79), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kLow);
  EXPECT_EQ(observe(80), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kEnough);
  EXPECT_EQ(observe(79), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kEnough);
  // Also with the reserve to be taken first: it does not close by that.
  EXPECT_EQ(observe(10), Advice::kGiveUpReserve);
  room_.on_reserve(false);
  EXPECT_EQ(observe(95), Advice::kNone);
  EXPECT_EQ(observe(96), Advice::kTakeReserve);
  room_.on_reserve(true);
  EXPECT_EQ(observe(80), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kEnough);
}

TEST_F(DiskRoomTest, HasSmallerMarksOnASmallDisk) {
  EXPECT_EQ(room_.observe({.free = 40 * kMebibyte, .total = 64 * kMebibyte}), Advice::kTakeReserve);
  EXPECT_EQ(room_.low_bytes(), 4 * kMebibyte);
  EXPECT_EQ(room_.reserve_bytes(), kMebibyte);
  EXPECT_EQ(room_.level(), RoomLevel::kEnough);
}

TEST_F(DiskRoomTest, NeverRunsOutWhereTheFileSystemDoesNotSay) {
  EXPECT_EQ(room_.observe({}), Advice::kNone);
  EXPECT_EQ(room_.level(), RoomLevel::kEnough);
}

}  // namespace
}  // namespace sluice::node
