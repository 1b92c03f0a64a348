// SPDX-License-Identifier: Apache-2.0
// A view change takes back what was never committed, and a fault meets each step of it.
#include <array>

#include <gtest/gtest.h>

#include "tests/simulation/log/log_simulation.hpp"

namespace sluice::sim {
namespace {

class EveryStepOfATruncation : public LogSimulation {
 protected:
  void prepare(LogWorld& world) override { world.replicate(); }

  static void add(LogWorld& world, Mode mode, std::size_t bytes) {
    world.append(bytes, mode == Mode::kEachSynced || (mode == Mode::kMixed && bytes % 3 == 0));
    world.run();
  }
  // Until the newest entry has begun a segment; the op before it.
  static Op roll(LogWorld& world, Mode mode) {
    const std::size_t complete = world.log().sealed_segments().size();
    while (world.log().sealed_segments().size() == complete) {
      if (world.machine().crashed() || world.log().fenced()) return {};
      add(world, mode, 900);
    }
    return world.log().sealed_segments().back().last_op;
  }
  static bool ended(LogWorld& world) { return world.machine().crashed() || world.log().fenced(); }

  // Truncations to every place where one may end.
  void scenario(LogWorld& world, Mode mode) override {
    add(world, mode, 600);
    add(world, mode, 300);
    world.truncate(Op{1});  // in the active segment
    world.run();
    if (ended(world)) return;
    add(world, mode, 301);
    Op complete = roll(world, mode);
    if (ended(world)) return;
    world.truncate(complete - 1);  // in the segment before it
    world.run();
    if (ended(world)) return;
    complete = roll(world, mode);
    if (ended(world)) return;
    add(world, mode, 200);
    world.truncate(complete);  // all of the active one
    world.run();
    if (ended(world)) return;
    roll(world, mode);
    if (ended(world)) return;
    world.commit();
    world.run();
    world.checkpoint();
    world.run();
    if (ended(world)) return;
    world.append(100, true);  // while these are being written
    world.append(101, mode == Mode::kEachSynced);
    world.append(102, mode == Mode::kEachSynced);
    world.truncate(world.log().head().op - 1);
    world.run();
    if (ended(world)) return;
    add(world, mode, 400);
  }
};

TEST_F(EveryStepOfATruncation, MeetsOnesToEveryPlace) {
  for (const Mode mode : kModes) {
    LogWorld world;
    prepare(world);
    ASSERT_TRUE(world.open().has_value());
    scenario(world, mode);
    EXPECT_FALSE(world.log().fenced());
    EXPECT_EQ(world.log().epoch(), 4U);
    EXPECT_FALSE(world.promises().cutting);
    EXPECT_GE(world.promises().gone.size(), 5U);
    EXPECT_EQ(world.log().acknowledged_op(), world.log().head().op);
    EXPECT_EQ(world.broken_promise(false), "");
    const Op head = world.log().head().op;
    const std::uint64_t segments = world.log().sealed_segments().size();
    world.die();
    world.machine().process_crash();
    ASSERT_TRUE(world.open(world.promises().witness).has_value());
    EXPECT_EQ(world.log().head().op, head);
    EXPECT_EQ(world.log().epoch(), 4U);
    EXPECT_EQ(world.log().sealed_segments().size(), segments);
  }
}

TEST_F(EveryStepOfATruncation, MayMeetACrash) {
  ASSERT_NO_FATAL_FAILURE(crash_everywhere(kExt4, std::array{Mode::kEachSynced, Mode::kFromTheCache}, process_crash_and(power_losses(1))));
  expect_points(1500);
}

TEST_F(EveryStepOfATruncation, MayMeetACrashWhereNamesAreSyncedByDirectoryAlone) {
  ASSERT_NO_FATAL_FAILURE(crash_everywhere({}, std::array{Mode::kMixed}, process_crash_and(power_losses(1))));
  expect_points(500);
}

}  // namespace
}  // namespace sluice::sim
