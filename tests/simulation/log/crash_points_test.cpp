// SPDX-License-Identifier: Apache-2.0
// A crash or an error at every single operation of a scenario, and each way in which it may end.
#include <array>
#include <functional>
#include <span>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/log/log_world.hpp"

namespace sluice::sim {
namespace {

constexpr std::array kPoints{FaultPoint::kBefore, FaultPoint::kHalf, FaultPoint::kAfter};

// How the entries of a scenario are acknowledged.
enum class Mode : std::uint8_t { kEachSynced, kFromTheCache, kMixed };
constexpr std::array kModes{Mode::kEachSynced, Mode::kFromTheCache, Mode::kMixed};

struct Aftermath {
  std::string name;
  std::function<void(SimStorage&)> happen;
  bool power_lost = true;
  bool with_witness = false;
};

std::vector<Aftermath> power_losses(std::uint64_t seeds) {
  std::vector<Aftermath> out{
      {"a power loss that nothing survives", [](SimStorage& machine) { machine.power_loss(PowerLoss::kNothing); }},
      {"a power loss that everything survives", [](SimStorage& machine) { machine.power_loss(PowerLoss::kEverything); }},
  };
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    out.push_back(
        {fmt::format("a power loss of seed {}", seed), [seed](SimStorage& machine) { machine.power_loss(PowerLoss::kRandom, seed); }});
  return out;
}

std::vector<Aftermath> process_crash_and(std::vector<Aftermath> others) {
  const auto end = [](SimStorage& machine) { machine.process_crash(); };
  others.push_back({"the end of the process", end, false, true});
  others.push_back({"the end of the process and of its witness", end, false, false});
  return others;
}

// A machine as a fault left it, and what was promised until then.
struct Wreck {
  FileTree files;
  Promises promises;
  std::string fault;
};

class LogSimulation : public ::testing::Test {
 protected:
  // Every append is run by itself. Several segments, two checkpoints, a trim; now and then a sync where entries do not ask for it.
  static void scenario(LogWorld& world, Mode mode) {
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

  // What the fault makes of a machine that begins from nothing; none if the scenario ends before.
  static std::optional<Wreck> wreck(const SimOptions& options, Mode mode, const Fault& fault) {
    LogWorld world(options);
    world.machine().plan().add(fault);
    if (world.open()) scenario(world, mode);
    world.die();
    for (const Operation& operation : world.machine().plan().trace()) {
      if (!operation.fault.empty()) return Wreck{world.machine().snapshot(), world.promises(), to_string(operation)};
    }
    return std::nullopt;
  }

  // A start, its promises, an append, and a power loss that only what is stable survives. Empty if all promises are kept.
  static std::string judge(LogWorld& world, const Aftermath& aftermath) {
    const auto witness = aftermath.with_witness ? world.promises().witness : std::nullopt;
    if (const auto opened = world.open(witness); !opened) return opened.error().to_string();
    if (std::string broken = world.broken_promise(aftermath.power_lost); !broken.empty()) return broken;
    if (witness && !world.report().trusted) return "the witness is not reached";
    if (witness && world.log().mint_from()) return "offsets are in doubt although only the process died";
    world.promise_what_is_there();
    world.append(200, true);
    world.run();
    if (world.log().fenced()) return world.log().fenced()->to_string();
    if (world.log().acknowledged_op() < world.log().head().op) return "an append behind the start is not acknowledged";
    world.die();
    world.machine().power_loss(PowerLoss::kNothing);
    if (const auto opened = world.open(); !opened) return "at the second start: " + opened.error().to_string();
    if (std::string broken = world.broken_promise(true); !broken.empty()) return "at the second start: " + broken;
    world.die();
    return "";
  }

  void must_recover(const SimOptions& options, const Wreck& wreck, const std::vector<Aftermath>& aftermaths) {
    LogWorld world(options);
    for (const Aftermath& aftermath : aftermaths) {
      ++points_;
      world.machine().restore(wreck.files);
      world.promises() = wreck.promises;
      aftermath.happen(world.machine());
      const std::string problem = judge(world, aftermath);
      ASSERT_EQ(problem, "") << aftermath.name << " after " << wreck.fault << "\n" << world.machine().plan().trace_text();
      world.machine().plan().restart();
    }
  }

  // A crash before, within and after each operation, in each mode.
  void crash_everywhere(const SimOptions& options, std::span<const Mode> modes, const std::vector<Aftermath>& aftermaths) {
    for (const Mode mode : modes) {
      std::optional<Wreck> wrecked;
      for (std::uint64_t at = 1; at == 1 || wrecked; ++at) {
        for (const FaultPoint point : kPoints) {
          wrecked = wreck(options, mode, Fault::crash(at, point));
          if (!wrecked) break;
          ASSERT_NO_FATAL_FAILURE(must_recover(options, *wrecked, aftermaths)) << "mode " << static_cast<int>(mode);
        }
      }
    }
    fmt::print("{} crash points\n", points_);
  }

  std::uint64_t points_ = 0;
};
class EveryCrash : public LogSimulation {};
class EveryError : public LogSimulation {};

constexpr SimOptions kExt4{.file_sync_commits_names = true};

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
  EXPECT_GT(points_, 4000U);
}

// Names survive by syncs of directories alone here.
TEST_F(EveryCrash, LosesNothingWhereNamesAreSyncedByDirectoryAlone) {
  ASSERT_NO_FATAL_FAILURE(crash_everywhere({}, std::array{Mode::kMixed}, process_crash_and(power_losses(1))));
  EXPECT_GT(points_, 1500U);
}

TEST_F(EveryCrash, MayMeetTheNextStartToo) {
  constexpr std::uint64_t kStride = 53;
  const std::vector<Aftermath> aftermaths = process_crash_and(power_losses(1));
  std::uint64_t number = 0;
  for (std::uint64_t at = 1;; at += kStride) {
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
  fmt::print("{} crash points\n", points_);
  EXPECT_GT(points_, 500U);
}

TEST_F(EveryError, LosesNothingThatWasAcknowledged) {
  std::vector<Aftermath> aftermaths = power_losses(0);
  aftermaths.pop_back();
  aftermaths = process_crash_and(std::move(aftermaths));
  for (const Mode mode : kModes) {
    for (const int error_number : {EIO, ENOSPC}) {
      std::optional<Wreck> wrecked;
      for (std::uint64_t at = 1; at == 1 || wrecked; ++at) {
        for (const FaultPoint point : kPoints) {
          wrecked = wreck(kExt4, mode, Fault::error(at, error_number, point));
          if (!wrecked) break;
          ASSERT_NO_FATAL_FAILURE(must_recover(kExt4, *wrecked, aftermaths)) << "mode " << static_cast<int>(mode);
        }
      }
    }
  }
  fmt::print("{} points of an error\n", points_);
  EXPECT_GT(points_, 4000U);
}

}  // namespace
}  // namespace sluice::sim
