// SPDX-License-Identifier: Apache-2.0
#include "core/vsr/dvc.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/vsr/report.hpp"

namespace sluice::vsr {
namespace {

const Quorums kThree = *Quorums::of(3);

Report good() {
  return {.replica = 2, .view = 5, .log_view = 4, .commit = 1, .log = chain({{'c', 1}, {'c', 1}, {'c', 4}}), .states = "ppn"};
}
std::string_view malformed(const Report& report) {
  return vsr::malformed(report.dvc(), kThree);
}

TEST(Dvc, ThatKeepsEveryRuleIsWellFormed) {
  EXPECT_EQ(malformed(good()), "");
  EXPECT_EQ(malformed(Report{}), "") << "an empty log";
  Report doubtful = good();
  doubtful.doubtful_to = ~0ULL;
  doubtful.states = "pp-";
  EXPECT_EQ(malformed(doubtful), "");
  Report nothing_committed = good();
  nothing_committed.commit = 0;
  nothing_committed.states = "p--";
  EXPECT_EQ(malformed(nothing_committed), "");
}

TEST(Dvc, OfAReplicaOutsideTheClusterIsRefused) {
  Report report = good();
  report.replica = 3;
  EXPECT_EQ(malformed(report), "the replica is none of the cluster");
}

TEST(Dvc, IsRefusedIfItsNumbersContradictEachOther) {
  Report report = good();
  report.view = 3;
  EXPECT_EQ(malformed(report), "the log_view is above the view");
  Dvc dvc = good().dvc();
  dvc.commit = Op(4);
  EXPECT_EQ(vsr::malformed(dvc, kThree), "the commit is above the op");
}

TEST(Dvc, HoldsAtMostAPipelineBeyondTheCommit) {
  const auto of = [](std::size_t entries) {
    return Report{.log_view = 1, .commit = 1, .log = chain(std::vector<Named>(entries, Named{'c', 1})), .states = "p"};
  };
  EXPECT_EQ(malformed(of(kSuffixMax)), "");
  EXPECT_EQ(malformed(of(kSuffixMax + 1)), "more is prepared than the pipeline holds");
  Dvc dvc = good().dvc();
  dvc.op = Op(~0ULL);
  EXPECT_EQ(vsr::malformed(dvc, kThree), "more is prepared than the pipeline holds");
}

TEST(Dvc, CoversCommitToOpExactly) {
  const Report report = good();
  Dvc dvc = report.dvc();
  dvc.headers = dvc.headers.first(2);
  EXPECT_EQ(vsr::malformed(dvc, kThree), "the headers do not cover commit to op");
  dvc = report.dvc();
  dvc.commit = Op(2);
  EXPECT_EQ(vsr::malformed(dvc, kThree), "the headers do not cover commit to op");
}

TEST(Dvc, IsAChainOfEntriesOfViewsUpToItsLogView) {
  Report report = good();
  report.log[2].parent = U128{1, 2};
  EXPECT_EQ(malformed(report), "the headers are no chain");
  report = good();
  report.log[2].op = Op(4);
  EXPECT_EQ(malformed(report), "the headers are no chain");
  report = good();
  report.log[0].op = Op(2);
  EXPECT_EQ(malformed(report), "the headers are no chain") << "the first one is the commit";
  report = good();
  report.log[2].view = View(0);
  EXPECT_EQ(malformed(report), "the headers are no chain") << "views never go back along a log";
  report = good();
  report.log[2].view = View(5);
  EXPECT_EQ(malformed(report), "an entry is of a view above the log_view");
}

TEST(Dvc, SaysOneThingOfEachEntryAndNothingOfOthers) {
  const Report report = good();
  Dvc dvc = report.dvc();
  dvc.nack[1] = true;
  EXPECT_EQ(vsr::malformed(dvc, kThree), "an entry is present and denied");
  dvc = report.dvc();
  dvc.present[3] = true;
  EXPECT_EQ(vsr::malformed(dvc, kThree), "a bit beyond the headers is set");
  dvc = report.dvc();
  dvc.nack[127] = true;
  EXPECT_EQ(vsr::malformed(dvc, kThree), "a bit beyond the headers is set");
}

TEST(Dvc, DeniesOnlyTheEndOfALogAndNothingCommitted) {
  Report report = good();
  report.states = "nnn";
  EXPECT_EQ(malformed(report), "the committed entry is denied");
  report.states = "pnp";
  EXPECT_EQ(malformed(report), "an entry is denied and the one above it is not");
  report.states = "pn-";
  EXPECT_EQ(malformed(report), "an entry is denied and the one above it is not");
  report.states = "ppn";
  report.doubtful_to = 3;
  EXPECT_EQ(malformed(report), "an entry is denied and in doubt");
}

}  // namespace
}  // namespace sluice::vsr
