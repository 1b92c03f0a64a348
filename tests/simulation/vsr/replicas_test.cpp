// SPDX-License-Identifier: Apache-2.0
// Replicas under everything at once, from seeds: loss, repetition, delay, partitions, crashes, lost tails. Then the faults end, and the
// group must work again. SLUICE_SEED=N runs that one; SLUICE_SEEDS=K runs K of them.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/simulation/vsr/cluster.hpp"

namespace sluice::vsr {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Totals {
  std::size_t answered = 0;
  std::size_t crashes = 0;
  std::size_t doubts = 0;
  Cluster::Counts counts;
};

// One replica at a time has lost something: with two, an entry may be gone from a quorum.
class Chaos {
 public:
  Chaos(std::uint64_t seed, std::size_t replica_count) : random_(seed * 2 + 1), cluster_(replica_count, seed) {}

  std::string run(Totals& totals) {
    cluster_.faults = {.lose = static_cast<unsigned>(random_.below(100)),
                       .repeat = static_cast<unsigned>(random_.below(100)),
                       .delay_max = milliseconds(1 + random_.below(40)),
                       .sync_max = milliseconds(1 + random_.below(20))};
    for (std::size_t turn = 0; turn < 150 && cluster_.checks().wrong().empty(); ++turn) {
      disturb(totals);
      for (std::uint64_t i = random_.below(5); i > 0; --i) propose();
      cluster_.run(milliseconds(random_.below(80)));
    }
    cluster_.faults = {};
    cluster_.heal();
    for (std::uint8_t i = 0; i < cluster_.size(); ++i) cluster_.restart(i);
    cluster_.run(milliseconds(5000));
    const bool takes = cluster_.propose();
    cluster_.run(milliseconds(1000));
    totals.answered += cluster_.answered();
    totals.counts.events += cluster_.counts.events;
    totals.counts.truncations += cluster_.counts.truncations;
    totals.counts.repaired += cluster_.counts.repaired;
    totals.counts.views += cluster_.counts.views;
    if (!cluster_.checks().wrong().empty()) return cluster_.checks().wrong();
    if (!takes || !cluster_.converged()) return "healed, and does not work: " + cluster_.text();
    return {};
  }

 private:
  void propose() {
    // At times to one that only thinks that it is the primary.
    if (random_.below(4) == 0) {
      cluster_.propose_at(static_cast<std::uint8_t>(random_.below(cluster_.size())));
    } else {
      cluster_.propose();
    }
  }

  void disturb(Totals& totals) {
    const auto node = static_cast<std::uint8_t>(random_.below(cluster_.size()));
    switch (random_.below(12)) {
      case 0:
        if (!cluster_.is_up(node)) break;
        cluster_.crash(node);
        ++totals.crashes;
        break;
      case 1:
      case 2:
        restart(node, totals);
        break;
      case 3:
        cluster_.isolate(node);
        break;
      case 4:
        cluster_.cut(node, static_cast<std::uint8_t>(random_.below(cluster_.size())));
        break;
      case 5:
      case 6:
        cluster_.heal();
        break;
      default:
        break;
    }
  }

  void restart(std::uint8_t node, Totals& totals) {
    const bool in_doubt = doubtful_ && cluster_.is_up(*doubtful_) && !cluster_.replica(*doubtful_).doubtful();
    if (in_doubt) doubtful_.reset();
    if (cluster_.size() > 1 && !cluster_.is_up(node) && (!doubtful_ || *doubtful_ == node) && random_.below(3) == 0) {
      doubtful_ = node;
      ++totals.doubts;
      cluster_.restart_without(node, random_.below(3));
    } else {
      cluster_.restart(node);
    }
  }

  SeededRandom random_;
  Cluster cluster_;
  std::optional<std::uint8_t> doubtful_;
};

void run_seeds(std::size_t replica_count, std::uint64_t seeds) {
  const std::uint64_t only = from_environment("SLUICE_SEED", 0);
  const std::uint64_t last = only != 0 ? only : from_environment("SLUICE_SEEDS", seeds);
  Totals totals;
  for (std::uint64_t seed = only != 0 ? only : 1; seed <= last; ++seed) {
    const std::string wrong = Chaos(seed, replica_count).run(totals);
    ASSERT_EQ(wrong, "") << replica_count << " replicas, SLUICE_SEED=" << seed;
  }
  std::printf(
      "%zu replicas, seeds to %llu: %zu events, %zu answered, %zu crashes, %zu in doubt, %zu views, %zu truncations, %zu entries sent "
      "again\n",
      replica_count, static_cast<unsigned long long>(last), totals.counts.events, totals.answered, totals.crashes, totals.doubts,
      totals.counts.views, totals.counts.truncations, totals.counts.repaired);
  if (only != 0) return;
  EXPECT_GT(totals.answered, seeds * 10);
  EXPECT_GT(totals.crashes, seeds);
  if (replica_count == 1) return;
  EXPECT_GT(totals.counts.views, seeds);
  EXPECT_GT(totals.counts.truncations, seeds / 10);
  EXPECT_GT(totals.counts.repaired, seeds);
}

TEST(Replicas, OneKeepsWhatItAnswered) {
  run_seeds(1, 20);
}
TEST(Replicas, ThreeAgreeAndLoseNothingWhateverHappens) {
  run_seeds(3, 40);
}
TEST(Replicas, FiveAgreeAndLoseNothingWhateverHappens) {
  run_seeds(5, 20);
}

}  // namespace
}  // namespace sluice::vsr
