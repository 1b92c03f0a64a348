// SPDX-License-Identifier: Apache-2.0
// sluice-sim: groups of replicas from seeds. A seed is one group under faults; the same seed is the same run, event by event.
//
//     sluice-sim --first-seed N --seeds K              a range; ends at the first seed in which something is wrong
//     sluice-sim --seed N [--until-event E]            one, with a line per event
//     ... --hashes                                     a line per seed with the hash of its events
//
// Exit codes: 0 all is well, 1 something was wrong, 2 usage, 3 nothing was wrong and too little happened for that to mean anything.
#include <CLI/CLI.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <unistd.h>

#include "tests/simulation/vsr/chaos.hpp"

namespace sluice::vsr {
namespace {

enum ExitCode : int { kWell = 0, kWrong = 1, kUsage = 2, kVacuous = 3 };

// What a hundred seeds exercise at the least, on average.
struct Floor {
  std::string_view name;
  std::size_t per_hundred_seeds;
  std::size_t seen;
};
constexpr std::uint64_t kSeedsForFloors = 50;  // fewer say nothing on average
constexpr std::size_t kEventsOfOneSeedMin = 500;

std::uint64_t g_seed = 0;  // under way, for the handler

// An assertion of a replica is a finding like any other: name its seed.
extern "C" void on_abort(int) {
  std::array<char, 32> digits{};
  std::size_t at = digits.size();
  std::uint64_t rest = g_seed;
  do {
    digits.at(--at) = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  constexpr std::string_view kBefore = "seed ";
  constexpr std::string_view kAfter = ": aborted\n";
  (void)!write(STDOUT_FILENO, kBefore.data(), kBefore.size());
  (void)!write(STDOUT_FILENO, digits.data() + at, digits.size() - at);
  (void)!write(STDOUT_FILENO, kAfter.data(), kAfter.size());
  _exit(kWrong);
}

std::size_t replicas_in(std::uint64_t seed, std::size_t wanted) {
  return wanted != 0 ? wanted : replica_count_of(seed);
}

int replay(std::uint64_t seed, std::size_t replicas, std::optional<std::size_t> until_event) {
  g_seed = seed;
  Chaos chaos(seed, replicas_in(seed, replicas));
  if (until_event) chaos.end_before_event(*until_event);
  std::size_t line = 0;
  chaos.trace_to([&line](const std::string& text) { std::printf("%6zu %s\n", ++line, text.c_str()); });
  Totals totals;
  const std::string wrong = chaos.run(totals);
  std::printf("seed %llu: %s, %zu events, hash %016llx\n", static_cast<unsigned long long>(seed), wrong.empty() ? "well" : wrong.c_str(),
              totals.counts.events, static_cast<unsigned long long>(chaos.hash()));
  return wrong.empty() ? kWell : kWrong;
}

int judge(const Totals& totals, std::uint64_t seeds, bool of_any_size) {
  const std::array floors{Floor{"events", 200'000, totals.counts.events},
                          Floor{"groups of one", of_any_size ? 2U : 0U, totals.of_one},
                          Floor{"groups of three", of_any_size ? 30U : 0U, totals.of_three},
                          Floor{"groups of five", of_any_size ? 10U : 0U, totals.of_five},
                          Floor{"answered", 5'000, totals.answered},
                          Floor{"crashes", 500, totals.crashes},
                          Floor{"crashes amid writes", 20, totals.counts.crashes_amid},
                          Floor{"in doubt", 50, totals.doubts},
                          Floor{"fenced", 50, totals.fences},
                          Floor{"views", 200, totals.counts.views},
                          Floor{"truncations", 20, totals.counts.truncations},
                          Floor{"entries sent again", 5'000, totals.counts.repaired},
                          Floor{"messages lost", 5'000, totals.counts.lost},
                          Floor{"messages repeated", 5'000, totals.counts.repeated},
                          Floor{"cuts", 1'000, totals.cuts},
                          Floor{"stalls", 500, totals.stalls},
                          Floor{"bursts", 100, totals.bursts},
                          Floor{"late notices", 1'000, totals.counts.late_notices},
                          Floor{"born late", 10, totals.counts.births}};
  bool vacuous = false;
  std::printf("%llu seeds:", static_cast<unsigned long long>(seeds));
  for (const Floor& floor : floors) {
    std::printf(" %zu %.*s,", floor.seen, static_cast<int>(floor.name.size()), floor.name.data());
  }
  std::printf(" %zu events of one seed at least, %zu messages of one step at most\n", totals.fewest_events, totals.counts.sends_max);
  if (totals.fewest_events < kEventsOfOneSeedMin) {
    vacuous = true;
    std::printf("too little: %zu events in one seed, at least %zu are to be expected\n", totals.fewest_events, kEventsOfOneSeedMin);
  }
  if (seeds < kSeedsForFloors) return vacuous ? kVacuous : kWell;
  for (const Floor& floor : floors) {
    if (floor.seen >= floor.per_hundred_seeds * seeds / 100) continue;
    vacuous = true;
    std::printf("too little: %zu %.*s, at least %llu are to be expected\n", floor.seen, static_cast<int>(floor.name.size()),
                floor.name.data(), static_cast<unsigned long long>(floor.per_hundred_seeds * seeds / 100));
  }
  return vacuous ? kVacuous : kWell;
}

int run_range(std::uint64_t first, std::uint64_t seeds, std::size_t replicas, bool hashes) {
  Totals totals;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    g_seed = seed;
    Chaos chaos(seed, replicas_in(seed, replicas));
    const std::string wrong = chaos.run(totals);
    if (hashes) std::printf("%llu %016llx\n", static_cast<unsigned long long>(seed), static_cast<unsigned long long>(chaos.hash()));
    if (wrong.empty()) continue;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
    return kWrong;
  }
  return judge(totals, seeds, replicas == 0);
}

int run(int argc, char** argv) {
  CLI::App app{"Groups of replicas under simulated faults, from seeds"};
  std::uint64_t first = 1;
  std::uint64_t seeds = 1000;
  std::uint64_t seed = 0;
  std::size_t until_event = 0;
  std::size_t replicas = 0;
  bool hashes = false;
  app.add_option("--first-seed", first, "The first of a range")->capture_default_str();
  app.add_option("--seeds", seeds, "How many")->capture_default_str();
  app.add_option("--replicas", replicas, "1, 3 or 5; without it the seed decides")->check(CLI::IsMember({1, 3, 5}));
  app.add_flag("--hashes", hashes, "Print the hash of each seed");
  const auto* one = app.add_option("--seed", seed, "This one, with a line per event");
  const auto* until = app.add_option("--until-event", until_event, "End before that event; with --seed")->needs("--seed");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kWell : kUsage;
  }
  std::signal(SIGABRT, on_abort);
  if (one->count() == 0) return run_range(first, seeds, replicas, hashes);
  return replay(seed, replicas, until->count() == 0 ? std::nullopt : std::optional(until_event));
}

}  // namespace
}  // namespace sluice::vsr

int main(int argc, char** argv) {
  return sluice::vsr::run(argc, argv);
}
