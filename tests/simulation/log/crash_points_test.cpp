// SPDX-License-Identifier: Apache-2.0
// A crash or an error at every single operation of a scenario, and each way in which it may end.
#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/log/log_simulation.hpp"

namespace sluice::sim {
namespace {

class RollsChecksAndTrims : public LogSimulation {
 protected:
  // Every append is run by itself. Several segments, two checkpoints, a trim; now and then a sync where entries do not ask for it.
  void scenario(LogWorld& world, Mode mode) override {
    constexpr std::array<std::size_t, 12> kSizes{30, 700, 5, 1900, 300, 300, 1400, 40, 2600, 90, 500, 1100};
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      world.append(kSizes.at(i), mode == Mode::kEachSynced || (mode == Mode::kMixed && i % 3 == 0));
      if (mode == Mode::kMixed && i % 4 == 1) world.append(60, true);
      world.run();
      if (mode != Mode::kEachSynced && (i == 1 || i == 7)) world.sync();
      if (i == 4 || i == 9) world.checkpoint();
      world.run();
      if (i == 10) world.trim(6);
      world.run();
    }
  }
};
class EveryCrash : public RollsChecksAndTrims {};
class EveryError : public RollsChecksAndTrims {};

TEST_F(EveryCrash, ComesIntoAScenarioThatRollsChecksAndTrims) {
  for (const Mode mode : kModes) {
    LogWorld world;
    ASSERT_TRUE(world.open().has_value());
    scenario(world, mode);
    EXPECT_GE(world.promises().acknowledged.size(), 12U);
    EXPECT_EQ(world.log().acknowledged_op(), world.log().head().op);
    EXPECT_GE(world.log().sealed_segments().size(), 2U);
    EXPECT_GE(world.log().checkpoint_op(), Op{10});
    EXPECT_GT(world.log().first_op(), Op{1});
    EXPECT_EQ(world.broken_promise(false), "");
  }
}

TEST_F(EveryCrash, LosesNothingThatWasAcknowledged) {
  ASSERT_NO_FATAL_FAILURE(crash_everywhere(kExt4, kModes, process_crash_and(power_losses(1))));
  expect_points(4000);
}

// Names survive by syncs of directories alone here.
TEST_F(EveryCrash, LosesNothingWhereNamesAreSyncedByDirectoryAlone) {
  ASSERT_NO_FATAL_FAILURE(crash_everywhere({}, std::array{Mode::kMixed}, process_crash_and(power_losses(1))));
  expect_points(1500);
}

TEST_F(EveryCrash, MayMeetTheNextStartToo) {
  const std::uint64_t stride = runs_in_full() ? 17 : 157;
  const std::vector<Aftermath> aftermaths = process_crash_and(power_losses(1));
  std::uint64_t number = 0;
  for (std::uint64_t at = 1;; at += stride) {
    const Mode mode = kModes.at(number++ % kModes.size());
    const std::optional<Wreck> first = wreck(kExt4, mode, Fault::crash(at, FaultPoint::kHalf));
    if (!first) break;
    for (const Aftermath& aftermath : aftermaths) {
      for (std::uint64_t again = 1;; ++again) {
        LogWorld world(kExt4);
        world.machine().restore(first->files);
        world.promises() = first->promises;
        aftermath.happen(world.machine());
        world.machine().plan().add(Fault::crash(again, FaultPoint::kAfter));
        (void)world.open(aftermath.with_witness ? first->promises.witness : std::nullopt);
        world.run();
        world.die();
        if (!world.machine().crashed()) break;
        const Wreck second{world.machine().snapshot(), world.promises(),
                           fmt::format("{}, {}, {}", first->fault, aftermath.name, to_string(world.machine().plan().trace().back()))};
        // Had the power failed before, then what was acknowledged from the cache may have gone with it already.
        auto ends = process_crash_and(power_losses(0));
        for (Aftermath& end : ends) {
          end.power_lost = end.power_lost || aftermath.power_lost;
          end.with_witness = end.with_witness && !aftermath.power_lost;
        }
        ASSERT_NO_FATAL_FAILURE(must_recover(kExt4, second, ends));
      }
    }
  }
  expect_points(1300);
}

TEST_F(EveryError, LosesNothingThatWasAcknowledged) {
  std::vector<Aftermath> aftermaths = power_losses(0);
  aftermaths.pop_back();
  aftermaths = process_crash_and(std::move(aftermaths));
  for (const Mode mode : kModes) {
    for (const int error_number : {EIO, ENOSPC}) {
      std::optional<Wreck> wrecked;
      for (std::uint64_t at = 1; at == 1 || wrecked; ++at) {
        for (const FaultPoint point : points_at(at, mode)) {
          wrecked = wreck(kExt4, mode, Fault::error(at, error_number, point));
          if (!wrecked) break;
          ASSERT_NO_FATAL_FAILURE(must_recover(kExt4, *wrecked, aftermaths)) << "mode " << static_cast<int>(mode);
        }
      }
    }
  }
  expect_points(4000);
}

}  // namespace
}  // namespace sluice::sim
