// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "tests/simulation/vsr/cluster.hpp"

namespace sluice::vsr {

// What happened in one seed, or in many.
struct Totals {
  std::size_t of_one = 0;  // groups by how many replicas they have
  std::size_t of_three = 0;
  std::size_t of_five = 0;
  std::size_t fewest_events = std::numeric_limits<std::size_t>::max();  // of one seed
  std::size_t answered = 0;
  std::size_t crashes = 0;
  std::size_t doubts = 0;
  std::size_t fences = 0;
  std::size_t stalls = 0;
  std::size_t bursts = 0;
  std::size_t cuts = 0;  // of one replica from all others, or of one direction
  Cluster::Counts counts{};

  void add(const Totals& other);
};

// One group under everything at once, from a seed: loss, repetition, delay, partitions, crashes at any write, lost tails, failed writes,
// replicas that are born late. Then the faults end, and the group must work again.
class Chaos {
 public:
  Chaos(std::uint64_t seed, std::size_t replica_count);

  // Ends before that event, whatever it is then; no judgement of whether the group works.
  void end_before_event(std::size_t event) { cluster_.events_max = event; }
  void trace_to(std::function<void(const std::string&)> trace) { cluster_.trace = std::move(trace); }

  // What was wrong, by the name of the invariant; empty if nothing.
  [[nodiscard]] std::string run(Totals& totals);
  [[nodiscard]] std::uint64_t hash() const { return cluster_.hash(); }

 private:
  [[nodiscard]] bool goes_on() const { return cluster_.checks().wrong().empty() && cluster_.counts.events < cluster_.events_max; }
  // Of a chance per mille: nothing in every other world.
  [[nodiscard]] unsigned at_times(std::uint64_t below);
  void propose();
  void disturb();
  void restart(std::uint8_t node);
  [[nodiscard]] std::string heal();

  SeededRandom random_;
  View created_view_;
  std::size_t born_;
  Cluster cluster_;
  Totals totals_;
  // One replica at a time has lost something: with two, an entry may be gone from a quorum.
  std::optional<std::uint8_t> doubtful_;
};

// The same for a seed that also chooses how many replicas there are.
[[nodiscard]] std::size_t replica_count_of(std::uint64_t seed);

}  // namespace sluice::vsr
