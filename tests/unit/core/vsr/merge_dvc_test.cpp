// SPDX-License-Identifier: Apache-2.0
#include "core/vsr/merge_dvc.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/core/vsr/report.hpp"

namespace sluice::vsr {
namespace {

const std::vector<Header> kOld = chain({{'c', 1}, {'o', 1}, {'o', 1}});
const std::vector<Header> kNew = chain({{'c', 1}, {'n', 2}, {'n', 2}});

std::vector<Header> first(const std::vector<Header>& log, std::size_t count) {
  return {log.begin(), log.begin() + count};
}

Outcome merge(const std::vector<Report>& reports, std::size_t replica_count = 3) {
  std::vector<Dvc> dvcs;
  for (const Report& report : reports) {
    dvcs.push_back(report.dvc());
    dvcs.back().replica = ReplicaIndex(static_cast<std::uint8_t>(dvcs.size() - 1));
    EXPECT_EQ(malformed(dvcs.back(), *Quorums::of(replica_count)), "");
  }
  return merge_dvc(dvcs, *Quorums::of(replica_count));
}

TEST(MergeDvc, WaitsForAQuorumOfReports) {
  const Report whole{.log_view = 1, .log = kOld, .states = "ppp"};
  EXPECT_EQ(merge({whole}).verdict, Verdict::kAwaitingQuorum);
  EXPECT_EQ(merge({whole, whole}).verdict, Verdict::kReady);
  EXPECT_EQ(merge({whole, whole}, 5).verdict, Verdict::kAwaitingQuorum);
  EXPECT_EQ(merge({whole}, 1).verdict, Verdict::kReady);
}

TEST(MergeDvc, OfEmptyLogsIsEmpty) {
  const Outcome outcome = merge({Report{}, Report{}});
  EXPECT_EQ(outcome.verdict, Verdict::kReady);
  EXPECT_EQ(outcome.head, Op(0));
  EXPECT_TRUE(outcome.headers.empty());
}

TEST(MergeDvc, TakesTheLogOfTheNewestLogViewAndNotTheLongest) {
  const std::vector<Report> reports{{.log_view = 1, .commit = 1, .log = kOld, .states = "ppp"},
                                    {.log_view = 2, .commit = 1, .log = first(kNew, 2), .states = "pp"}};
  const Outcome outcome = merge(reports);
  ASSERT_EQ(outcome.verdict, Verdict::kReady);
  EXPECT_EQ(outcome.log_view, View(2));
  EXPECT_EQ(outcome.head, Op(2));
  EXPECT_EQ(outcome.headers.back(), kNew[1]);
}

TEST(MergeDvc, TakesTheLongestLogOfTheNewestLogView) {
  const std::vector<Report> reports{{.log_view = 2, .log = first(kNew, 2), .states = "pp"}, {.log_view = 2, .log = kNew, .states = "ppp"}};
  const Outcome outcome = merge(reports);
  ASSERT_EQ(outcome.verdict, Verdict::kReady);
  EXPECT_EQ(outcome.head, Op(3));
  EXPECT_EQ(outcome.headers.size(), 3U);
}

TEST(MergeDvc, StartsAtTheNewestCommitThatAnyoneKnows) {
  const std::vector<Report> reports{{.log_view = 1, .commit = 2, .log = first(kOld, 2), .states = "p"},
                                    {.log_view = 1, .commit = 1, .log = kOld, .states = "ppp"}};
  const Outcome outcome = merge(reports);
  ASSERT_EQ(outcome.verdict, Verdict::kReady);
  EXPECT_EQ(outcome.commit, Op(2));
  EXPECT_EQ(outcome.headers.front(), kOld[1]);
  EXPECT_EQ(outcome.headers.back(), kOld[2]);
}

TEST(MergeDvc, DropsAnEntryThatNobodyHasAndTooFewCanHaveCommitted) {
  // Both adopted the start of view 2 and neither ever got the body of op 3.
  const Report lacking{.log_view = 2, .commit = 1, .log = kNew, .states = "ppn"};
  const Outcome outcome = merge({lacking, lacking});
  ASSERT_EQ(outcome.verdict, Verdict::kReady);
  EXPECT_EQ(outcome.head, Op(2));
}

TEST(MergeDvc, AwaitsTheOthersForAnEntryThatMayBeCommitted) {
  const Report damaged{.log_view = 2, .commit = 1, .log = kNew, .states = "pp-"};
  const Report lacking{.log_view = 2, .commit = 1, .log = kNew, .states = "ppn"};
  const Outcome outcome = merge({damaged, lacking});
  EXPECT_EQ(outcome.verdict, Verdict::kAwaitingMore);
  EXPECT_EQ(outcome.op, Op(3));
  EXPECT_EQ(merge({damaged, lacking, lacking}).verdict, Verdict::kReady);
  EXPECT_EQ(merge({damaged, damaged, lacking}).verdict, Verdict::kDeadlocked);
}

TEST(MergeDvc, NeverDropsWhatADoubtfulReplicaMayHaveAcknowledged) {
  // The first lost power: it may have acknowledged op 3, and op 3 may be committed by it and the one that is silent.
  const Report doubtful{.log_view = 2, .commit = 1, .doubtful_to = 3, .log = first(kNew, 2), .states = "pp"};
  const Report behind{.log_view = 2, .commit = 1, .log = first(kNew, 2), .states = "pp"};
  EXPECT_EQ(merge({doubtful, behind}).verdict, Verdict::kAwaitingMore);
  EXPECT_EQ(merge({doubtful, behind}).op, Op(3));
  EXPECT_EQ(merge({behind, behind}).head, Op(2));
  const Outcome known = merge({doubtful, behind, {.log_view = 2, .commit = 1, .log = kNew, .states = "ppp"}});
  ASSERT_EQ(known.verdict, Verdict::kReady);
  EXPECT_EQ(known.head, Op(3));
}

TEST(MergeDvc, TakesAReplicaOfAnOlderViewAtItsWordThatItAcknowledgedNothingNewer) {
  // Its doubt reaches beyond op 2, but it never was in view 2.
  const std::vector<Report> reports{{.log_view = 1, .commit = 1, .doubtful_to = 9, .log = first(kOld, 1), .states = "p"},
                                    {.log_view = 2, .commit = 1, .log = first(kNew, 2), .states = "pn"}};
  const Outcome outcome = merge(reports);
  ASSERT_EQ(outcome.verdict, Verdict::kReady);
  EXPECT_EQ(outcome.head, Op(1));
}

TEST(MergeDvc, AwaitsACommittedEntryThatTheNewestLogLost) {
  // The second was in view 2 and lost op 2, which is committed; the first has caught up with it and was not in view 2 itself.
  const std::vector<Header> log = chain({{'c', 1}, {'n', 2}});
  const std::vector<Report> reports{{.log_view = 1, .commit = 2, .log = log, .states = "p"},
                                    {.log_view = 2, .commit = 1, .doubtful_to = 2, .log = first(log, 1), .states = "p"}};
  const Outcome outcome = merge(reports);
  EXPECT_EQ(outcome.verdict, Verdict::kAwaitingMore);
  EXPECT_EQ(outcome.op, Op(2));
}

TEST(MergeDvc, DecidesNothingIfALogOfTheSameViewDiffers) {
  const std::vector<Report> reports{{.log_view = 2, .log = kOld, .states = "ppp"}, {.log_view = 2, .log = kNew, .states = "ppp"}};
  EXPECT_EQ(merge(reports).verdict, Verdict::kConflict);
}

TEST(MergeDvc, DecidesNothingIfACommittedEntryIsNotInTheNewestLog) {
  const Report committed{.log_view = 1, .commit = 2, .log = kOld, .states = "pp"};
  const Outcome replaced = merge({committed, {.log_view = 2, .log = kNew, .states = "ppp"}});
  EXPECT_EQ(replaced.verdict, Verdict::kConflict);
  EXPECT_EQ(replaced.op, Op(2));
  EXPECT_EQ(merge({committed, {.log_view = 2, .log = first(kNew, 1), .states = "p"}}).verdict, Verdict::kConflict);
}

}  // namespace
}  // namespace sluice::vsr
