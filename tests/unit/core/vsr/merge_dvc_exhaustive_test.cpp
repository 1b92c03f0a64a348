// SPDX-License-Identifier: Apache-2.0
// merge_dvc against the definition of what it must keep, on every set of reports over a small world: clusters of 1, 3 and 5, up to three
// ops, a log that diverged, every statement on each entry, doubt.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "core/vsr/merge_dvc.hpp"
#include "tests/unit/core/vsr/report.hpp"

namespace sluice::vsr {
namespace {

constexpr std::size_t kOpsMax = 3;

// The log of views 0, 1 and 2, one entry of each; and what else a primary of view 0 prepared behind its first entry.
const std::vector<Header> kLog = chain({{'c', 0}, {'c', 1}, {'c', 2}});
const std::vector<Header> kDiverged = chain({{'c', 0}, {'d', 0}, {'d', 0}});

// Every way to say present, nothing or nack of `count` entries, the nacks last. The commit, if it is among them, is never a nack.
std::vector<std::string> statements(std::size_t count, bool anchored) {
  std::vector<std::string> out;
  for (std::size_t said = anchored ? 1 : 0; said <= count; ++said) {
    for (std::size_t bits = 0; bits < (std::size_t{1} << said); ++bits) {
      std::string states(count, 'n');
      for (std::size_t i = 0; i < said; ++i) states[i] = (bits >> i & 1) != 0 ? 'p' : '-';
      out.push_back(states);
    }
  }
  return out;
}

struct World {
  std::vector<Report> reports;
  std::vector<std::string> texts;  // what their `states` point to
};

struct Shape {
  const std::vector<Header>* log;
  std::uint32_t log_view;
  std::size_t entries_min;
  std::size_t entries_max;
  bool may_doubt;
};

World world_of(const std::vector<Shape>& shapes) {
  World world;
  world.texts.reserve(10'000);
  for (const Shape& shape : shapes) {
    for (std::size_t entries = shape.entries_min; entries <= shape.entries_max; ++entries) {
      for (std::size_t commit = 0; commit <= std::min<std::size_t>(entries, 2); ++commit) {
        for (const std::string& states : statements(entries - (commit == 0 ? 0 : commit - 1), commit != 0)) {
          world.texts.push_back(states);
          Report report{.log_view = shape.log_view, .commit = commit, .states = world.texts.back()};
          report.log.assign(shape.log->begin(), shape.log->begin() + static_cast<std::ptrdiff_t>(entries));
          world.reports.push_back(report);
          if (shape.may_doubt && states.find('n') == std::string::npos) {
            report.doubtful_to = entries + 1;
            world.reports.push_back(report);
          }
        }
      }
    }
  }
  return world;
}

// The definition. An entry may be committed if there is a set of replicas, as large as a replication quorum, each of which may have
// acknowledged it. A replica that did not report may have acknowledged anything.
class Oracle {
 public:
  Oracle(const std::vector<const Report*>& reports, Quorums quorums) : reports_(reports), quorums_(quorums) {
    for (const Report* report : reports_) newest_ = std::max(newest_, report->log_view);
    for (const Report* report : reports_) {
      commit_ = std::max(commit_, report->commit);
      if (report->log_view == newest_ && (longest_ == nullptr || report->log.size() > longest_->size())) longest_ = &report->log;
    }
  }

  [[nodiscard]] Verdict verdict() {
    if (reports_.size() < quorums_.view_change()) return Verdict::kAwaitingQuorum;
    if (contradicts()) return Verdict::kConflict;
    head_ = longest_->size();
    if (commit_ > head_) return stuck();
    for (head_ = commit_; head_ < longest_->size(); ++head_) {
      const Header& entry = (*longest_)[head_];
      if (provided(entry)) continue;
      if (!may_be_committed(entry)) return Verdict::kReady;
      return stuck();
    }
    return may_be_committed({.op = Op(head_ + 1), .view = View(newest_), .id = {}, .parent = {}}) ? stuck() : Verdict::kReady;
  }
  [[nodiscard]] std::size_t head() const { return head_; }
  [[nodiscard]] std::size_t commit() const { return commit_; }
  [[nodiscard]] const std::vector<Header>& log() const { return *longest_; }

  [[nodiscard]] bool may_be_committed(const Header& entry) const {
    unsigned may = 0;
    for (std::size_t replica = 0; replica < quorums_.count(); ++replica) {
      if (replica >= reports_.size() || may_have_acknowledged(*reports_[replica], entry)) may |= 1U << replica;
    }
    for (unsigned set = 0; set < (1U << quorums_.count()); ++set) {
      if (static_cast<std::size_t>(__builtin_popcount(set)) >= quorums_.replication() && (set & may) == set) return true;
    }
    return false;
  }

 private:
  static bool may_have_acknowledged(const Report& report, const Header& entry) {
    if (entry.view.value() > report.log_view) return false;  // it was never in that view
    const std::size_t at = entry.op.value() - 1;
    if (at >= report.log.size()) return report.doubtful_to >= entry.op.value();
    return report.log[at].id == entry.id && said(report, at) != 'n';
  }
  static char said(const Report& report, std::size_t at) {
    const std::size_t first = report.commit == 0 ? 0 : report.commit - 1;
    return at < first ? '-' : report.states[at - first];
  }
  [[nodiscard]] bool provided(const Header& entry) const {
    return std::ranges::any_of(reports_, [&](const Report* report) {
      const std::size_t at = entry.op.value() - 1;
      return at < report->log.size() && report->log[at].id == entry.id && said(*report, at) == 'p';
    });
  }
  // A committed entry is missing from the newest log, or two logs of its view are not the same as far as they go.
  [[nodiscard]] bool contradicts() const {
    for (const Report* report : reports_) {
      for (std::size_t at = 0; at < report->log.size(); ++at) {
        const bool same = at < longest_->size() && (*longest_)[at].id == report->log[at].id;
        if (same || (at >= longest_->size() && lost(at + 1))) continue;
        if (at < report->commit || report->log_view == newest_) return true;
      }
    }
    return false;
  }
  // Whether the newest log may have reached `op` in a replica that lost its end.
  [[nodiscard]] bool lost(std::size_t op) const {
    return std::ranges::any_of(reports_, [&](const Report* report) { return report->log_view == newest_ && report->doubtful_to >= op; });
  }
  [[nodiscard]] Verdict stuck() const { return reports_.size() == quorums_.count() ? Verdict::kDeadlocked : Verdict::kAwaitingMore; }

  const std::vector<const Report*>& reports_;
  Quorums quorums_;
  std::uint32_t newest_ = 0;
  std::size_t commit_ = 0;
  const std::vector<Header>* longest_ = nullptr;
  std::size_t head_ = 0;
};

struct Counts {
  std::size_t cases = 0;
  std::size_t by_verdict[5] = {};
  std::size_t dropped = 0;  // kReady with fewer entries than are known
};

std::string text_of(const std::vector<const Report*>& reports) {
  std::string out;
  for (const Report* report : reports) {
    out += fmt::format("[log_view {} commit {} doubtful_to {} entries", report->log_view, report->commit, report->doubtful_to);
    for (const Header& header : report->log) out += fmt::format(" {}{}", static_cast<char>(header.id.low & 0xFF), header.op);
    out += fmt::format(" {}] ", report->states);
  }
  return out;
}

// Empty if the outcome is right.
std::string wrong(const std::vector<const Report*>& reports, const std::vector<Dvc>& dvcs, Quorums quorums, Counts& counts) {
  const Outcome outcome = merge_dvc(dvcs, quorums);
  Oracle oracle(reports, quorums);
  const Verdict expected = oracle.verdict();
  ++counts.cases;
  ++counts.by_verdict[static_cast<std::size_t>(expected)];
  if (outcome.verdict != expected) return fmt::format("verdict {}, not {}", static_cast<int>(outcome.verdict), static_cast<int>(expected));
  if (expected == Verdict::kAwaitingMore || expected == Verdict::kDeadlocked) {
    return outcome.op == Op(oracle.head() + 1) ? "" : fmt::format("stuck at {}, not {}", outcome.op, oracle.head() + 1);
  }
  if (expected != Verdict::kReady) return "";
  if (outcome.head != Op(oracle.head())) return fmt::format("head {}, not {}", outcome.head, oracle.head());
  if (outcome.commit != Op(oracle.commit())) return fmt::format("commit {}, not {}", outcome.commit, oracle.commit());
  counts.dropped += oracle.head() < oracle.log().size() ? 1 : 0;
  for (std::size_t at = oracle.head(); at < oracle.log().size(); ++at) {
    if (oracle.may_be_committed(oracle.log()[at])) return fmt::format("op {} may be committed and is dropped", at + 1);
  }
  const std::size_t first = oracle.commit() == 0 ? 0 : oracle.commit() - 1;
  if (outcome.headers.size() != oracle.head() - std::min(first, oracle.head())) return "the headers do not cover commit to head";
  const bool same = std::equal(outcome.headers.begin(), outcome.headers.end(), oracle.log().begin() + static_cast<std::ptrdiff_t>(first));
  return same ? "" : "the headers are not those of the newest log";
}

// Every set of `size` reports: replicas are alike to the merge (see OrderDoesNotMatter), so one order of each set stands for all.
void check_all(const World& world, std::size_t size, Quorums quorums, Counts& counts) {
  std::vector<std::size_t> at(size, 0);
  std::vector<const Report*> reports(size);
  std::vector<Dvc> made;
  for (const Report& report : world.reports) made.push_back(report.dvc());
  std::vector<Dvc> dvcs(size);
  for (;;) {
    for (std::size_t i = 0; i < size; ++i) {
      reports[i] = &world.reports[at[i]];
      dvcs[i] = made[at[i]];
      dvcs[i].replica = ReplicaIndex(static_cast<std::uint8_t>(i));
    }
    const std::string what = wrong(reports, dvcs, quorums, counts);
    ASSERT_EQ(what, "") << text_of(reports) << "of " << int{quorums.count()} << " replicas";
    std::size_t last = size;
    while (last > 0 && at[last - 1] + 1 == world.reports.size()) --last;
    if (last == 0) return;
    std::fill(at.begin() + static_cast<std::ptrdiff_t>(last) - 1, at.end(), at[last - 1] + 1);
  }
}

World large_world() {
  return world_of({{&kLog, 2, 0, kOpsMax, true}, {&kLog, 1, 0, 2, true}, {&kLog, 0, 0, 1, true}, {&kDiverged, 0, 2, kOpsMax, false}});
}
// For five replicas: what is left of each kind of report.
World small_world() {
  World world = world_of({{&kLog, 2, 0, 2, true}, {&kDiverged, 0, 2, 2, false}});
  std::erase_if(world.reports, [](const Report& report) { return report.commit != 0 && report.log.size() > 1; });
  return world;
}

TEST(MergeDvcExhaustive, KeepsExactlyWhatMayBeCommittedOrCanBeProvided) {
  Counts counts;
  const World large = large_world();
  const World small = small_world();
  check_all(large, 1, *Quorums::of(1), counts);
  for (std::size_t size = 1; size <= 3; ++size) check_all(large, size, *Quorums::of(3), counts);
  for (std::size_t size = 1; size <= 5; ++size) check_all(small, size, *Quorums::of(5), counts);
  std::printf("merge_dvc: %zu cases of %zu and %zu reports; ready %zu (%zu of them drop entries), await %zu, deadlocked %zu\n",
              counts.cases, large.reports.size(), small.reports.size(), counts.by_verdict[0], counts.dropped, counts.by_verdict[2],
              counts.by_verdict[3]);
  EXPECT_GE(counts.cases, 1'000'000U);
  EXPECT_GT(counts.dropped, 10'000U);
  EXPECT_GT(counts.by_verdict[2], 1'000U);
  EXPECT_GT(counts.by_verdict[3], 1'000U);
}

TEST(MergeDvcExhaustive, FindsEveryContradiction) {
  Counts counts;
  World world = world_of({{&kLog, 2, 0, kOpsMax, false}, {&kLog, 1, 0, 2, false}, {&kDiverged, 2, 1, kOpsMax, false}});
  // Of a log that diverged, two entries and both committed.
  world.reports.push_back({.log_view = 0, .commit = 2, .log = {kDiverged.begin(), kDiverged.begin() + 2}, .states = "p"});
  for (std::size_t size = 2; size <= 3; ++size) check_all(world, size, *Quorums::of(3), counts);
  EXPECT_GT(counts.by_verdict[4], 1'000U);
}

TEST(MergeDvcExhaustive, OrderDoesNotMatter) {
  World world = large_world();
  // Every seventh report, in all six orders.
  for (std::size_t i = 0; i < world.reports.size() / 7; ++i) std::swap(world.reports[i], world.reports[i * 7]);
  world.reports.resize(world.reports.size() / 7);
  const Quorums quorums = *Quorums::of(3);
  const auto summary = [&](const std::vector<Dvc>& dvcs) {
    const Outcome outcome = merge_dvc(dvcs, quorums);
    return std::vector<std::uint64_t>{static_cast<std::uint64_t>(outcome.verdict), outcome.op.value(), outcome.commit.value(),
                                      outcome.head.value(), outcome.headers.empty() ? 0 : outcome.headers.back().id.low};
  };
  for (const Report& a : world.reports) {
    for (const Report& b : world.reports) {
      for (const Report& c : world.reports) {
        const auto expected = summary({a.dvc(), b.dvc(), c.dvc()});
        ASSERT_EQ(summary({b.dvc(), c.dvc(), a.dvc()}), expected);
        ASSERT_EQ(summary({b.dvc(), a.dvc(), c.dvc()}), expected);
      }
    }
  }
}

}  // namespace
}  // namespace sluice::vsr
