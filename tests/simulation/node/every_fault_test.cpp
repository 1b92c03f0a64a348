// SPDX-License-Identifier: Apache-2.0
// A crash or an error at every operation of a partition that is used as sources, sinks, producers and operators use it, each way in which
// the machine may end, and the start after it.
#include <array>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/node/host_world.hpp"
#include "tests/simulation/storage/aftermath.hpp"
#include "tests/simulation/storage/extent.hpp"

namespace sluice::sim {
namespace {

constexpr std::array kHostModes{
    HostMode{.name = "Fsync"},
    HostMode{.name = "FsyncOfLogAndIndexForAnHour", .index_sync = true, .age = std::chrono::hours(1), .seed = 2},
    HostMode{.name = "PageCacheWithinABudget", .enforce_fsync = false, .unsynced_bytes_max = 500, .seed = 3},
    HostMode{.name = "PageCacheAndIndexSync", .enforce_fsync = false, .index_sync = true, .seed = 4},
};
constexpr ClientId kFirst{0, 1};
constexpr ClientId kSecond{0, 2};

class EveryFault : public ::testing::TestWithParam<HostMode> {
 protected:
  struct Wreck {
    FileTree files;
    HostPromises promises;
    std::string fault;
  };

  void SetUp() override { fmt::print("seed {}\n", GetParam().seed); }

  static void scenario(HostWorld& world) {
    const std::vector<std::function<void()>> steps{
        [&] { world.begin_consumer(), world.begin_source(); },
        [&] { world.append(3, 100), world.request(kFirst, 200), world.request(kFirst, 150); },
        [&] { world.append_with_state(300), world.commit_offsets(), world.append(1, 700); },
        [&] { world.pass_time(); },
        [&] { world.read(Offset{0}), world.request(kSecond, 900), world.store_state(); },
        [&] { world.append(1, 1800), world.commit_offsets(), world.append(2, 400); },
        [&] { world.request(kFirst, 500), world.append_with_state(600), world.read(Offset{2}); },
        [&] { world.begin_consumer(), world.commit_offsets(); },  // the commit is of the tenure before
        [&] { world.append(1, 600), world.append(1, 600), world.append(1, 600); },
        [&] { world.append(1, 900), world.purge(), world.request(kSecond, 300), world.pass_time(); },
        [&] { world.append_with_state(400), world.commit_offsets(), world.begin_source(); },
        [&] { world.append(1, 1500), world.request(kFirst, 100), world.store_state(); },
        [&] { world.append(2, 500), world.commit_offsets(), world.pass_time(), world.append(1, 50); },
        [&] { world.close(); },
    };
    for (const auto& step : steps) {
      step();
      world.run();
      if (world.ended()) return;
    }
  }

  // What the fault makes of a machine that begins from nothing; none if the scenario ends before.
  std::optional<Wreck> wreck(const Fault& fault) {
    HostWorld world(kExt4, GetParam(), shard_);
    world.machine().plan().add(fault);
    if (world.open()) scenario(world);
    world.die();
    for (const Operation& operation : world.machine().plan().trace()) {
      if (!operation.fault.empty()) return Wreck{world.machine().snapshot(), world.promises(), to_string(operation)};
    }
    return std::nullopt;
  }

  // A start, its promises, everybody goes on, and a power loss that only what is stable survives. Empty if all promises are kept.
  static std::string judge(HostWorld& world, const Aftermath& aftermath) {
    const auto witness = aftermath.with_witness ? world.promises().witness : std::nullopt;
    if (const auto opened = world.open(witness); !opened) return opened.error().to_string();
    if (std::string broken = world.broken_promise(aftermath.power_lost); !broken.empty()) return broken;
    if (witness && !world.report().trusted && !world.report().clean) return "the witness is not reached";
    if (witness && world.report().mint_from) return "offsets are in doubt although only the process died";
    world.promise_what_is_there();
    world.resume();
    world.run();
    if (std::string wrong = world.repeat_requests(); !wrong.empty()) return wrong;
    world.request(kFirst, 60);
    world.append_with_state(200);
    world.commit_offsets();
    world.run();
    if (!world.problem().empty()) return "after the start: " + world.problem();
    if (world.log().acknowledged_op() < world.log().head().op) return "what is appended behind the start is not acknowledged";
    if (std::string wrong = world.read_all(); !wrong.empty()) return wrong;
    const bool closes = aftermath.power_lost;
    if (closes) world.close();
    world.run();
    if (closes && !world.promises().closed) return "it does not close: " + world.problem();
    world.die();
    world.machine().power_loss(PowerLoss::kNothing);
    if (const auto opened = world.open(); !opened) return "at the second start: " + opened.error().to_string();
    if (std::string broken = world.broken_promise(true); !broken.empty()) return "at the second start: " + broken;
    world.die();
    return "";
  }

  void must_recover(const Wreck& wreck, const std::vector<Aftermath>& aftermaths) {
    HostWorld world(kExt4, GetParam(), shard_);
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

  // So many ways to end, others each time; all of them in a full run.
  std::vector<Aftermath> next_of(const std::vector<Aftermath>& all, std::size_t count) {
    if (runs_in_full()) return all;
    std::vector<Aftermath> out;
    while (out.size() < count) out.push_back(all[turn_++ % all.size()]);
    return out;
  }

  // What changes nothing has no half and no after, and needs no room. Else one of the kinds in turn; all of them in a full run.
  static std::vector<Fault> errors_at(const Operation& operation) {
    std::vector<Fault> out{Fault::error(operation.number, EIO)};
    if (!is_change(operation.kind)) return out;
    out.push_back(Fault::error(operation.number, EIO, FaultPoint::kAfter));
    out.push_back(Fault::error(operation.number, ENOSPC, FaultPoint::kHalf));
    if (!runs_in_full()) return {out[(operation.number + GetParam().seed) % out.size()]};
    out.push_back(Fault::error(operation.number, EIO, FaultPoint::kHalf));
    out.push_back(Fault::error(operation.number, ENOSPC));
    out.push_back(Fault::error(operation.number, ENOSPC, FaultPoint::kAfter));
    return out;
  }

  // The operations of the scenario when nothing comes between.
  std::vector<Operation> operations() {
    HostWorld world(kExt4, GetParam(), shard_);
    EXPECT_TRUE(world.open().has_value());
    scenario(world);
    world.die();
    const auto& trace = world.machine().plan().trace();
    return {trace.begin(), trace.end()};
  }

  storage::IoThreads threads_{0};
  node::Shard shard_{0, threads_};
  std::size_t turn_ = 0;
  std::uint64_t points_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Partition, EveryFault, ::testing::ValuesIn(kHostModes), [](const auto& mode) { return mode.param.name; });

TEST_P(EveryFault, ComesIntoAScenarioThatDoesEverything) {
  HostWorld world(kExt4, GetParam(), shard_);
  ASSERT_TRUE(world.open().has_value());
  scenario(world);
  EXPECT_TRUE(world.promises().closed) << world.problem();
  // Where an assignment is not committed before the commit of the one before it is sent, that is refused as it is applied.
  const std::string refused = world.problem().substr(0, world.problem().find(" "));
  EXPECT_EQ(refused, GetParam().enforce_fsync ? "consumer" : "") << world.problem();
  EXPECT_GE(world.promises().acknowledged.size(), 30U);
  EXPECT_EQ(world.promises().requests.size(), 6U);
  EXPECT_GT(world.promises().floor, Offset{10});
  EXPECT_GT(world.log().first_op(), Op{1}) << "the purge removed nothing";
  EXPECT_EQ(world.state().floor_offset() > world.promises().floor, GetParam().age.count() > 0) << "what retention by age takes";
  EXPECT_GE(world.log().sealed_segments().size(), 1U);
  fmt::print("{} of {} calls waited\n", world.waits(), world.log().head().op.value());
  // Without a sync only those wait that meet the end of a reservation or a roll, or the budget.
  EXPECT_EQ(world.waits() > 23, GetParam().enforce_fsync || GetParam().unsynced_bytes_max) << world.waits();
  world.die();
  world.machine().power_loss(PowerLoss::kNothing);
  ASSERT_TRUE(world.open().has_value());
  EXPECT_EQ(world.broken_promise(true), "");
}

TEST_P(EveryFault, MayBeACrash) {
  const std::vector<Aftermath> aftermaths = process_crash_and(power_losses(runs_in_full() ? 4 : 1));
  const std::vector<Operation> all = operations();
  for (const Operation& operation : all) {
    for (const FaultPoint point : kPoints) {
      // The others leave the same bytes behind.
      const bool differs = point == FaultPoint::kBefore || (point == FaultPoint::kHalf && operation.kind == OperationKind::kWrite);
      if (!differs && !runs_in_full()) continue;
      const std::optional<Wreck> wrecked = wreck(Fault::crash(operation.number, point));
      ASSERT_TRUE(wrecked.has_value());
      ASSERT_NO_FATAL_FAILURE(must_recover(*wrecked, next_of(aftermaths, 2)));
    }
  }
  fmt::print("{} crash points of {} operations\n", points_, all.size());
  EXPECT_GT(points_, 600U);
}

TEST_P(EveryFault, MayBeAnError) {
  const std::vector<Aftermath> aftermaths = process_crash_and(power_losses(runs_in_full() ? 1 : 0));
  const std::vector<Operation> all = operations();
  for (const Operation& operation : all) {
    for (const Fault& fault : errors_at(operation)) {
      const std::optional<Wreck> wrecked = wreck(fault);
      ASSERT_TRUE(wrecked.has_value());
      ASSERT_NO_FATAL_FAILURE(must_recover(*wrecked, next_of(aftermaths, 1)));
    }
  }
  fmt::print("{} points of an error of {} operations\n", points_, all.size());
  EXPECT_GE(points_, all.size());
}

}  // namespace
}  // namespace sluice::sim
