// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/vsr/chaos.hpp"

#include <algorithm>

namespace sluice::vsr {
namespace {

constexpr std::size_t kTurns = 600;
constexpr milliseconds kTurnMax{80};
constexpr milliseconds kHealed{5000};  // until a healed group must work
constexpr std::uint32_t kCreatedViewMax = 4;
constexpr std::uint64_t kBurst = 2 * kPipelineMax;  // more than a primary takes at once

}  // namespace

void Totals::add(const Totals& other) {
  of_one += other.of_one;
  of_three += other.of_three;
  of_five += other.of_five;
  fewest_events = std::min(fewest_events, other.fewest_events);
  answered += other.answered;
  crashes += other.crashes;
  doubts += other.doubts;
  fences += other.fences;
  stalls += other.stalls;
  bursts += other.bursts;
  cuts += other.cuts;
  counts.events += other.counts.events;
  counts.truncations += other.counts.truncations;
  counts.repaired += other.counts.repaired;
  counts.lost += other.counts.lost;
  counts.repeated += other.counts.repeated;
  counts.views += other.counts.views;
  counts.crashes_amid += other.counts.crashes_amid;
  counts.late_notices += other.counts.late_notices;
  counts.births += other.counts.births;
  counts.sends_max = std::max(counts.sends_max, other.counts.sends_max);
}

std::size_t replica_count_of(std::uint64_t seed) {
  switch (SeededRandom(seed).below(10)) {
    case 0:
      return 1;
    case 1:
    case 2:
    case 3:
      return 5;
    default:
      return 3;
  }
}

// In every fourth group the last replicas, fewer than a quorum, are born late.
Chaos::Chaos(std::uint64_t seed, std::size_t replica_count)
    : random_(seed * 2 + 1),
      created_view_(static_cast<std::uint32_t>(random_.below(kCreatedViewMax + 1))),
      born_(random_.below(4) == 0 ? replica_count / 2 + 1 : replica_count),
      cluster_(replica_count, seed, created_view_, born_) {}

unsigned Chaos::at_times(std::uint64_t below) {
  const std::uint64_t whether = random_.below(2);
  return static_cast<unsigned>(whether * random_.below(below));
}

std::string Chaos::run(Totals& totals) {
  cluster_.faults = {.lose = static_cast<unsigned>(random_.below(100)),
                     .repeat = static_cast<unsigned>(random_.below(100)),
                     .late_notice = at_times(1000),
                     .crash_amid = at_times(500),
                     .delay_max = milliseconds(1 + random_.below(40)),
                     .sync_max = milliseconds(1 + random_.below(20))};
  for (std::size_t turn = 0; turn < kTurns && goes_on(); ++turn) {
    disturb();
    for (std::uint64_t i = random_.below(5); i > 0; --i) propose();
    cluster_.run(milliseconds(random_.below(static_cast<std::uint64_t>(kTurnMax.count()))));
  }
  std::string wrong = goes_on() ? heal() : std::string();
  totals_.answered = cluster_.answered();
  totals_.counts = cluster_.counts;
  totals_.fewest_events = cluster_.counts.events;
  ++(cluster_.size() == 1 ? totals_.of_one : cluster_.size() == 3 ? totals_.of_three : totals_.of_five);
  totals.add(totals_);
  return cluster_.checks().wrong().empty() ? wrong : cluster_.checks().wrong();
}

std::string Chaos::heal() {
  cluster_.faults = {};
  cluster_.heal();
  for (std::uint8_t i = 0; i < cluster_.size(); ++i) {
    cluster_.stall_disk(i, false);
    if (cluster_.is_up(i) && cluster_.replica(i).status() == Status::kFenced) cluster_.crash(i);
    cluster_.restart(i);
  }
  cluster_.run(kHealed);
  const bool takes = cluster_.propose();
  cluster_.run(milliseconds(1000));
  if (cluster_.counts.events >= cluster_.events_max || (takes && cluster_.converged())) return {};
  return "liveness: healed, and does not work: " + cluster_.text();
}

void Chaos::propose() {
  // At times to one that only thinks that it is the primary.
  if (random_.below(4) == 0) {
    (void)cluster_.propose_at(static_cast<std::uint8_t>(random_.below(cluster_.size())));
  } else {
    (void)cluster_.propose();
  }
}

void Chaos::disturb() {
  const auto node = static_cast<std::uint8_t>(random_.below(cluster_.size()));
  switch (random_.below(16)) {
    case 0:
      if (!cluster_.is_up(node)) break;
      cluster_.crash(node);
      ++totals_.crashes;
      break;
    case 1:
    case 2:
    case 3:
      restart(node);
      break;
    case 4:
      cluster_.isolate(node);
      ++totals_.cuts;
      break;
    case 5:
      cluster_.cut(node, static_cast<std::uint8_t>(random_.below(cluster_.size())));
      ++totals_.cuts;
      break;
    case 6:
    case 7:
      cluster_.heal();
      break;
    case 8:
      if (!cluster_.is_up(node) || random_.below(4) != 0) break;
      cluster_.fence(node);
      ++totals_.fences;
      break;
    case 9:
      ++totals_.stalls;
      cluster_.stall_record(node, random_.below(2) == 0);
      cluster_.stall_log(node, random_.below(2) == 0);
      break;
    case 10:
    case 11:
      cluster_.stall_disk(node, false);
      break;
    case 12:
      if (random_.below(4) != 0) break;
      ++totals_.bursts;
      for (std::uint64_t i = 0; i < kBurst; ++i) propose();
      break;
    default:
      break;
  }
}

void Chaos::restart(std::uint8_t node) {
  if (cluster_.is_up(node) && cluster_.replica(node).status() == Status::kFenced) cluster_.crash(node);
  if (doubtful_ && !cluster_.in_doubt(*doubtful_)) doubtful_.reset();
  if (cluster_.size() > 1 && !cluster_.is_up(node) && (!doubtful_ || *doubtful_ == node) && random_.below(3) == 0) {
    doubtful_ = node;
    ++totals_.doubts;
    cluster_.restart_without(node, random_.below(3));
  } else {
    cluster_.restart(node);
  }
}

}  // namespace sluice::vsr
