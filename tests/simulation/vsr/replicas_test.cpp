// SPDX-License-Identifier: Apache-2.0
// Replicas under everything at once, from seeds: loss, repetition, delay, partitions, crashes, lost tails. Then the faults end, and the
// group must work again. SLUICE_SEED=N runs that one; SLUICE_SEEDS=K runs K of them.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/simulation/vsr/chaos.hpp"

namespace sluice::vsr {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

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
  run_seeds(1, 10);
}
TEST(Replicas, ThreeAgreeAndLoseNothingWhateverHappens) {
  run_seeds(3, 10);
}
TEST(Replicas, FiveAgreeAndLoseNothingWhateverHappens) {
  run_seeds(5, 5);
}

}  // namespace
}  // namespace sluice::vsr
