// SPDX-License-Identifier: Apache-2.0
// A crash or an error at every single operation of a scenario, and each way in which it may end.
#include <array>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/log/log_world.hpp"

namespace sluice::sim {
namespace {

constexpr std::array kPoints{FaultPoint::kBefore, FaultPoint::kHalf, FaultPoint::kAfter};

struct Aftermath {
  std::string name;
  std::function<void(SimStorage&)> happen;
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
  others.push_back({"the end of the process", [](SimStorage& machine) { machine.process_crash(); }});
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
  // Every append is flushed by itself. Several segments, two checkpoints, a trim.
  static void scenario(LogWorld& world) {
    constexpr std::array<std::size_t, 12> kSizes{30, 700, 5, 1900, 300, 300, 1400, 40, 2600, 90, 500, 1100};
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      world.append(kSizes.at(i), true);
      world.run();
      if (i == 4 || i == 9) world.checkpoint();
      world.run();
      if (i == 10) world.trim(6);
      world.run();
    }
  }

  // What the fault makes of a machine that begins from nothing; none if the scenario ends before.
  static std::optional<Wreck> wreck(const SimOptions& options, const Fault& fault) {
    LogWorld world(options);
    world.machine().plan().add(fault);
    if (world.open()) scenario(world);
    world.die();
    for (const Operation& operation : world.machine().plan().trace()) {
      if (!operation.fault.empty()) return Wreck{world.machine().snapshot(), world.promises(), to_string(operation)};
    }
    return std::nullopt;
  }

  // A start, its promises, an append, and a power loss that only what is stable survives. Empty if all promises are kept.
  static std::string judge(LogWorld& world) {
    if (const auto opened = world.open(); !opened) return opened.error().to_string();
    if (std::string broken = world.broken_promise(); !broken.empty()) return broken;
    world.promise_what_is_there();
    world.append(200, true);
    world.run();
    if (world.log().fenced()) return world.log().fenced()->to_string();
    world.die();
    world.machine().power_loss(PowerLoss::kNothing);
    if (const auto opened = world.open(); !opened) return "at the second start: " + opened.error().to_string();
    if (std::string broken = world.broken_promise(); !broken.empty()) return "at the second start: " + broken;
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
      const std::string problem = judge(world);
      ASSERT_EQ(problem, "") << aftermath.name << " after " << wreck.fault << "\n" << world.machine().plan().trace_text();
      world.machine().plan().restart();
    }
  }

  // A crash before, within and after each operation.
  void crash_everywhere(const SimOptions& options, const std::vector<Aftermath>& aftermaths) {
    std::optional<Wreck> wrecked;
    for (std::uint64_t at = 1; at == 1 || wrecked; ++at) {
      for (const FaultPoint point : kPoints) {
        wrecked = wreck(options, Fault::crash(at, point));
        if (!wrecked) break;
        ASSERT_NO_FATAL_FAILURE(must_recover(options, *wrecked, aftermaths));
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
  LogWorld world;
  ASSERT_TRUE(world.open().has_value());
  scenario(world);
  EXPECT_EQ(world.promises().acknowledged.size(), 12U);
  EXPECT_GE(world.log().sealed_segments().size(), 2U);
  EXPECT_EQ(world.log().checkpoint_op(), Op{10});
  EXPECT_GT(world.log().first_op(), Op{1});
  EXPECT_EQ(world.broken_promise(), "");
}

TEST_F(EveryCrash, LosesNothingThatWasAcknowledged) {
  ASSERT_NO_FATAL_FAILURE(crash_everywhere(kExt4, process_crash_and(power_losses(4))));
  EXPECT_GT(points_, 1500U);
}

TEST_F(EveryCrash, LosesNothingWhereNamesAreSyncedByDirectoryAlone) {
  ASSERT_NO_FATAL_FAILURE(crash_everywhere({}, process_crash_and(power_losses(2))));
  EXPECT_GT(points_, 1000U);
}

TEST_F(EveryCrash, MayMeetTheNextStartToo) {
  constexpr std::uint64_t kStride = 13;
  const std::vector<Aftermath> aftermaths = process_crash_and(power_losses(1));
  for (std::uint64_t at = 1;; at += kStride) {
    const std::optional<Wreck> first = wreck(kExt4, Fault::crash(at, FaultPoint::kHalf));
    if (!first) break;
    for (const Aftermath& aftermath : aftermaths) {
      for (std::uint64_t again = 1;; ++again) {
        LogWorld world(kExt4);
        world.machine().restore(first->files);
        aftermath.happen(world.machine());
        world.machine().plan().add(Fault::crash(again, FaultPoint::kAfter));
        (void)world.open();
        world.die();
        if (!world.machine().crashed()) break;
        const Wreck second{world.machine().snapshot(), first->promises,
                           fmt::format("{}, {}, {}", first->fault, aftermath.name, to_string(world.machine().plan().trace().back()))};
        ASSERT_NO_FATAL_FAILURE(must_recover(kExt4, second, process_crash_and(power_losses(0))));
      }
    }
  }
  fmt::print("{} crash points\n", points_);
  EXPECT_GT(points_, 1000U);
}

// After a failed sync the power goes too: a start that finds in the page cache what no sync will ever cover is left out.
TEST_F(EveryError, LosesNothingThatWasAcknowledged) {
  for (const int error_number : {EIO, ENOSPC}) {
    std::optional<Wreck> wrecked;
    for (std::uint64_t at = 1; at == 1 || wrecked; ++at) {
      for (const FaultPoint point : kPoints) {
        wrecked = wreck(kExt4, Fault::error(at, error_number, point));
        if (!wrecked) break;
        const bool of_sync = wrecked->fault.find(" sync /") != std::string::npos;
        const std::vector<Aftermath> aftermaths = of_sync ? power_losses(1) : process_crash_and(power_losses(1));
        ASSERT_NO_FATAL_FAILURE(must_recover(kExt4, *wrecked, aftermaths));
      }
    }
  }
  fmt::print("{} points of an error\n", points_);
  EXPECT_GT(points_, 2000U);
}

}  // namespace
}  // namespace sluice::sim
