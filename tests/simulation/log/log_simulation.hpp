// SPDX-License-Identifier: Apache-2.0
// A fault at every single operation of a scenario, each way in which it may end, and the start after it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/log/log_world.hpp"
#include "tests/simulation/storage/aftermath.hpp"
#include "tests/simulation/storage/extent.hpp"

namespace sluice::sim {

// How the entries of a scenario are acknowledged.
enum class Mode : std::uint8_t { kEachSynced, kFromTheCache, kMixed };
inline constexpr std::array kModes{Mode::kEachSynced, Mode::kFromTheCache, Mode::kMixed};

// A machine as a fault left it, and what was promised until then.
struct Wreck {
  FileTree files;
  Promises promises;
  std::string fault;
};

class LogSimulation : public ::testing::Test {
 protected:
  // From an empty log on.
  virtual void scenario(LogWorld& world, Mode mode) = 0;
  virtual void prepare(LogWorld&) {}

  // What the fault makes of a machine that begins from nothing; none if the scenario ends before.
  std::optional<Wreck> wreck(const SimOptions& options, Mode mode, const Fault& fault) {
    LogWorld world(options);
    prepare(world);
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
    const bool may_be_cut = world.promises().cutting && world.report().clean;
    if (witness && !world.report().trusted && !may_be_cut) return "the witness is not reached";
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
    prepare(world);
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

  // Before, within and after the operation; one of them in turn where the run is not a full one.
  static std::span<const FaultPoint> points_at(std::uint64_t operation, Mode mode) {
    const std::span<const FaultPoint> all(kPoints);
    return runs_in_full() ? all : all.subspan((operation + static_cast<std::uint64_t>(mode)) % all.size(), 1);
  }

  // That the scenario was long enough; `full` is what a full run exceeds.
  void expect_points(std::uint64_t full) const {
    fmt::print("{} points\n", points_);
    EXPECT_GT(points_, runs_in_full() ? full : full / kPoints.size());
  }

  // A crash at each operation, in each mode.
  void crash_everywhere(const SimOptions& options, std::span<const Mode> modes, const std::vector<Aftermath>& aftermaths) {
    for (const Mode mode : modes) {
      std::optional<Wreck> wrecked;
      for (std::uint64_t at = 1; at == 1 || wrecked; ++at) {
        for (const FaultPoint point : points_at(at, mode)) {
          wrecked = wreck(options, mode, Fault::crash(at, point));
          if (!wrecked) break;
          ASSERT_NO_FATAL_FAILURE(must_recover(options, *wrecked, aftermaths)) << "mode " << static_cast<int>(mode);
        }
      }
    }
  }

  std::uint64_t points_ = 0;
};

}  // namespace sluice::sim
