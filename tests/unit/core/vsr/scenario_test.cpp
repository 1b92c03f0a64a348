// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core/vsr/scenario.hpp"

namespace sluice::vsr {
namespace {

// Paper §4.1: the primary gives the request its op, sends prepare to the backups, and commits once a quorum holds it.
TEST_F(Scenario, AnEntryIsCommittedOnceAQuorumHasIt) {
  append(3);
  expect_answered(3);
  pass(100);
  expect_converged();
}

// Paper §4.1: f backups are enough; the primary does not wait for the slowest.
TEST_F(Scenario, OneSilentBackupHoldsNobodyUp) {
  crash({2});
  append(3);
  expect_answered(3);
}

// Paper §4.1: without a quorum nothing is committed.
TEST_F(Scenario, WithoutAQuorumNothingIsAnswered) {
  crash({1, 2});
  append(3);
  pass(2000);
  expect_answered(0);
}

// Paper §4.1: backups learn of commits from the next prepare, or from a commit message if there is none.
TEST_F(Scenario, BackupsLearnOfTheCommitFromAnIdlePrimary) {
  append();
  pass(100);
  EXPECT_EQ(group_->replica(1).commit(), Op(1));
  EXPECT_EQ(group_->replica(2).commit(), Op(1));
}

// Paper §4.1, and ours: prepare_ok only after the entry is durable, the primary's own not excepted.
TEST_F(Scenario, NothingIsAnsweredBeforeAQuorumHasItDurable) {
  group_->stall_disk(1, true);
  group_->stall_disk(2, true);
  append();
  expect_answered(0);
  group_->stall_disk(2, false);
  pass(20);
  expect_answered(1);
}
TEST_F(Scenario, ThePrimarysOwnDiskDoesNotCountBeforeItIsDurableEither) {
  pass(20);
  crash({2});
  group_->stall_disk(0, true);
  append();
  expect_answered(0);
  group_->stall_disk(0, false);
  pass(20);
  expect_answered(1);
}

// Paper §4.2: if the primary is silent, the next in turn takes over, with everything that was committed.
TEST_F(Scenario, TheNextInTurnTakesOverFromADeadPrimary) {
  append(5);
  crash({0});
  after_an_election();
  expect_primary(1);
  append(2);
  expect_answered(7);
}

TEST_F(Scenario, FailoverTakesLessThanASecond) {
  append();
  crash({0});
  pass(900);
  expect_primary(1);
  append();
  expect_answered(2);
}

// Paper §4.2: what the old primary prepared and only some hold survives if the new primary's quorum holds it.
TEST_F(Scenario, AnEntryThatOneBackupHoldsIsKept) {
  append();
  group_->cut(0, 1);
  group_->cut(2, 0);
  append();  // reaches 2 alone, and nobody is told
  expect_answered(1);
  crash({0});
  heal();
  after_an_election();
  append();
  expect_committed(3);
}

// Paper §4.2: what no quorum can have committed may go, and goes for good.
TEST_F(Scenario, AnEntryThatOnlyADeadPrimaryHeldIsReplaced) {
  append();
  isolate(0);
  append_at(0);
  append_at(0);
  after_an_election();
  expect_primary(1);
  append();
  heal();
  pass(1500);
  expect_converged();
  expect_committed(2);
  EXPECT_GE(group_->counts.truncations, 1U);
}

// Paper §4.2: a primary that was deposed without noticing cannot commit.
TEST_F(Scenario, ADeposedPrimaryAnswersNothing) {
  isolate(0);
  after_an_election();
  expect_primary(1);
  append_at(0);
  pass(500);
  expect_answered(0);
}

// Ours: leaving a view takes a quorum that wants to, so one replica with a broken link deposes nobody.
TEST_F(Scenario, OneReplicaThatHearsNothingDeposesNobody) {
  append();
  group_->cut(0, 2);
  group_->cut(1, 2);
  pass(3000);
  heal();
  pass(500);
  expect_primary(0);
  expect_view(2, 0);
  expect_converged();
}

// Ours: a primary that hears no acknowledgement falls silent, so that one that can commit takes over.
TEST_F(Scenario, APrimaryThatHearsNobodyGivesUp) {
  group_->cut(1, 0);
  group_->cut(2, 0);
  append();
  pass(3000);
  expect_primary(1);
  append();
  expect_answered(1);
}

// Paper §4.2: several primaries in a row may be dead.
TEST_F(Scenario, TwoDeadPrimariesOfFiveAreSkipped) {
  group_of(5);
  append(2);
  crash({0, 1});
  pass(3000);
  expect_primary(2);
  append(2);
  expect_answered(4);
}

// Paper §4.3, with logs that last: a replica that comes back keeps its log, and gets what it missed.
TEST_F(Scenario, ABackupThatComesBackCatchesUp) {
  append(2);
  crash({2});
  append(50);
  restart({2});
  pass(1000);
  expect_converged();
}
TEST_F(Scenario, ABackupCatchesUpOverManyPipelines) {
  crash({2});
  for (int i = 0; i < 10; ++i) append(100);
  restart({2});
  pass(3000);
  expect_converged();
  expect_committed(1000);
}

// Paper §4.3: nobody answers for a view on the word of a replica that has just come back.
TEST_F(Scenario, APrimaryThatComesBackDoesNotGoOnInItsView) {
  append(2);
  crash({0});
  restart({0});
  pass(50);
  expect_no_primary();
  after_an_election();
  expect_primary(1);
  expect_converged();
}

// All at once: the logs last, so nothing that was answered is lost.
TEST_F(Scenario, AfterAllCrashedEverythingAnsweredIsThere) {
  append(10);
  crash({0, 1, 2});
  restart({0, 1, 2});
  pass(3000);
  append();
  expect_answered(11);
  pass(100);
  expect_converged();
}

// A replica in doubt does not deny what it may have acknowledged: the group waits for the one that knows.
TEST_F(Scenario, AReplicaInDoubtDoesNotVoteAwayWhatItMayHaveAcknowledged) {
  append();
  isolate(1);
  append();  // committed by 0 and 2
  expect_answered(2);
  crash({0, 2});
  heal();
  group_->restart_without(2, 1);
  pass(3000);
  expect_no_primary();
  restart({0});
  pass(3000);
  append();
  expect_answered(3);
  pass(100);
  expect_converged();
}

// Once a later view has decided without the entry, its acknowledgement binds nobody: a replica that lost it takes over a log that ends
// below, and says so in the next election.
TEST_F(Scenario, AnAcknowledgementIsVoidOnceALaterViewHasDecidedWithoutTheEntry) {
  append();
  pass(100);
  group_->cut(0, 1);
  group_->cut(2, 0);
  group_->stall_disk(0, true);
  append();  // durable at 2 alone, which acknowledges it to nobody
  crash({0, 2});
  group_->stall_disk(0, false);
  heal();
  group_->restart_without(2, 1);
  EXPECT_TRUE(group_->replica(2).doubtful());
  restart({0});
  pass(3000);
  EXPECT_FALSE(group_->replica(2).doubtful());
  expect_primary(1);
  isolate(1);
  pass(3000);
  expect_primary(2);
  crash({2});  // so that it reports to the next one
  restart({2});
  pass(3000);
  expect_primary(0);
  heal();
  pass(1500);
  append();
  expect_committed(2);
}

// A log loses its end: what it lost above an entry that a view truncates is as little of that view.
TEST_F(Scenario, ATruncationEndsTheDoubtAboveIt) {
  append();
  pass(100);
  isolate(0);
  for (int i = 0; i < 3; ++i) append_at(0);
  after_an_election();
  append();
  crash({0});
  group_->restart_without(0, 1);
  EXPECT_TRUE(group_->replica(0).doubtful());
  heal();
  for (int i = 0; i < 1500; ++i) {
    pass(1);
    if (group_->replica(0).log_view() > View(0)) {
      ASSERT_FALSE(group_->replica(0).doubtful()) << i << " ms: " << group_->text();
    }
  }
  expect_converged();
}

// Fenced is silent: not even a heartbeat.
TEST_F(Scenario, AFencedPrimarySaysNothingMore) {
  append();
  group_->fence(0);
  const std::uint64_t sent = group_->sent_by(0);
  after_an_election();
  EXPECT_EQ(group_->sent_by(0), sent);
  expect_primary(1);
}

// One replica: the same path, with itself as its quorum. A start begins a new view, for what it prepared in the old one may be gone.
TEST_F(Scenario, ASingleReplicaCommitsAndComesBackInANewView) {
  group_of(1);
  append(3);
  expect_answered(3);
  crash({0});
  restart({0});
  pass(20);
  expect_primary(0);
  expect_view(0, 1);
  expect_committed(3);
  append();
  expect_answered(4);
}

// Design §4: all replicas begin at the view that the committed create names, whoever learns of it when.
TEST_F(Scenario, AGroupBeginsInTheViewOfItsCreate) {
  group_of(3, 7);
  pass(20);
  expect_primary(1);
  append();
  expect_answered(1);
  expect_view(2, 7);
}
TEST_F(Scenario, AReplicaThatIsBornLateDoesNotWinWithItsEmptyLog) {
  group_of(3, 5);
  isolate(2);  // the primary by its number, and it never took part: for the others it is not born
  after_an_election();
  append(5);
  expect_answered(5);
  heal();
  pass(1500);
  expect_converged();
  expect_committed(5);
}

}  // namespace
}  // namespace sluice::vsr
