// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/log/frontier.hpp"
#include "core/log/verify.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class Truncate : public LogFixture {
 protected:
  static log::LogOptions replicated() {
    log::LogOptions out = options();
    out.replicated = true;
    out.segment_bytes = log::kSegmentPageBytes + 1000;
    out.hot_bytes = 500;
    return out;
  }

  // Appends and keeps the entry; the outcome is written into `outcomes_` under its op. Nothing is run.
  void send(const std::string& text, bool must_sync = true) {
    entry::SharedEntry entry = stamped(batch_of(1, text), must_sync);
    const Op op = entry.header().op;
    entries_[op] = entry;
    outcomes_.erase(op);
    log_->append(std::move(entry),
                 [this, op](Result<void> outcome) { outcomes_[op] = outcome ? "done" : std::string(outcome.error().code()); });
  }
  void send_and_run(const std::string& text, bool must_sync = true) {
    send(text, must_sync);
    queue_.run_all();
    ASSERT_EQ(outcomes_[log_->head().op], "done");
  }
  // The first is stored, the second on its way, the others wait.
  void send_a_to_d() {
    send_and_run("a");
    for (const char* const prefix : {"b", "c", "d"}) send(prefix);
  }
  // The op that begins the segment.
  Op roll() {
    const std::size_t complete = log_->sealed_segments().size();
    while (log_->sealed_segments().size() == complete) {
      send("roll");
      queue_.run_all();
    }
    return log_->head().op;
  }
  // "done", the code of the error, or "" if there is no answer yet.
  std::string truncate(Op op, std::optional<U128> id = std::nullopt) {
    truncated_ = "";
    log_->truncate(op, id ? *id : entries_.at(op).header().identity,
                   [this](Result<void> outcome) { truncated_ = outcome ? "done" : std::string(outcome.error().code()); });
    queue_.run_all();
    return truncated_;
  }

  std::map<Op, entry::SharedEntry> entries_;
  std::map<Op, std::string> outcomes_;
  std::string truncated_;
};

TEST_F(Truncate, TakesBackWhatIsAboveTheEntryAndGivesItsOffsetsAgain) {
  must_open(replicated());
  for (const char* text : {"a", "b", "c"}) send_and_run(text);
  EXPECT_EQ(truncate(Op{1}), "done");
  EXPECT_EQ(log_->epoch(), 1U);
  EXPECT_EQ(log_->head().op, Op{1});
  EXPECT_EQ(log_->acknowledged_op(), Op{1});
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0"}));
  EXPECT_EQ(segment().size(), log::kSegmentPageBytes + entries_[Op{1}].header().stored_bytes());
  send_and_run("x");
  EXPECT_EQ(entries_[Op{2}].header().base_offset, Offset{1});
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0", "x0"}));
  must_open(replicated());
  EXPECT_EQ(log_->epoch(), 1U);
  EXPECT_TRUE(report_.trusted);
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0", "x0"}));
}

TEST_F(Truncate, CountsItsEpochsOverRolls) {
  must_open(replicated());
  send_and_run("a");
  EXPECT_EQ(truncate(Op{1}), "done");
  roll();
  EXPECT_EQ(truncate(log_->head().op), "done");
  EXPECT_EQ(log_->epoch(), 2U);
  must_open(replicated());
  EXPECT_EQ(log_->epoch(), 2U);
}

TEST_F(Truncate, ReachesIntoTheSegmentBeforeAndRemovesTheNewest) {
  must_open(replicated());
  const Op second = roll();
  send_and_run("later");
  const Op kept = second - 2;
  EXPECT_EQ(truncate(kept), "done");
  EXPECT_FALSE(storage_.exists(path_of(second)));
  EXPECT_FALSE(storage_.exists(index_path_of(second)));
  EXPECT_TRUE(log_->sealed_segments().empty());
  send_and_run("x");
  EXPECT_EQ(log_->head().op, second - 1);
  EXPECT_EQ(payloads(Offset{0}).back(), "x0");
  EXPECT_EQ(roll(), second) << "the segment before it holds as much as it did";
}

// The slot is durable and the newest segment is still there.
TEST_F(Truncate, IsDecidedByItsSlot) {
  must_open(replicated());
  const Op second = roll();
  send_and_run("later");
  storage_.fault = MemoryStorage::Fault{Change::kRemove, 1, EIO};
  EXPECT_EQ(truncate(second - 2), "log.fenced");
  ASSERT_TRUE(storage_.exists(path_of(second)));
  kill();
  const auto verdict = log::verify(storage_, replicated());
  ASSERT_TRUE(verdict.has_value() && !verdict->changes.empty());
  EXPECT_EQ(verdict->changes.front().find(path_of(second) + ": removed"), 0U) << verdict->changes.front();
  must_open(replicated());
  EXPECT_EQ(report_.truncated_segment, path_of(second));
  EXPECT_FALSE(storage_.exists(path_of(second)));
  EXPECT_FALSE(storage_.exists(index_path_of(second)));
  EXPECT_EQ(log_->head().op, second - 2);
  EXPECT_EQ(log_->epoch(), 1U);
}

TEST_F(Truncate, LetsAnotherEntryTakeThePlaceOfTheOneThatBeganASegment) {
  must_open(replicated());
  const Op second = roll();
  EXPECT_EQ(truncate(second - 1), "done");
  // One that fits does not roll.
  entry::EntryStamp stamp = log_->next_stamp(batch_of(1, "x"), clock_.wall(), true);
  stamp.first_of_segment = false;
  std::string outcome;
  log_->append(batch_of(1, "x").stamp(stamp), [&](Result<void> result) { outcome = result ? "done" : result.error().to_string(); });
  queue_.run_all();
  EXPECT_EQ(outcome, "done");
  EXPECT_TRUE(log_->sealed_segments().empty());
}

TEST_F(Truncate, SealsASegmentOnceWhatFollowsItIsCommitted) {
  must_open(replicated());
  const Op second = roll();
  const auto sealed = [&] {
    const auto slots = log::read_slots(Bytes(segment()).first(log::kSegmentPageBytes), Op{1});
    return slots && slots->both_sealed;
  };
  log_->commit(second - 1);
  queue_.run_all();
  EXPECT_FALSE(sealed());
  must_open(replicated());
  EXPECT_FALSE(sealed()) << "a start does not know either";
  EXPECT_EQ(truncate(second), "done");
  log_->commit(second);
  queue_.run_all();
  EXPECT_TRUE(sealed());
  EXPECT_EQ(truncate(second - 1), "log.committed");
  must_open(replicated());
  EXPECT_EQ(truncate(second - 1), "log.committed") << "the seal says so";
}

TEST_F(Truncate, ReachesIntoTheSegmentBeforeAfterAStartToo) {
  must_open(replicated());
  const Op second = roll();
  must_open(replicated());
  EXPECT_EQ(truncate(second - 2), "done");
  send_and_run("x");
  must_open(replicated());
  EXPECT_EQ(log_->head().op, second - 1);
  EXPECT_EQ(payloads(Offset{0}).back(), "x0");
}

TEST_F(Truncate, RefusesWhatIsCommittedAndChangesNothing) {
  must_open(replicated());
  for (const char* text : {"a", "b", "c"}) send_and_run(text);
  log_->commit(Op{2});
  const ByteVector before = segment();
  EXPECT_EQ(truncate(Op{1}), "log.committed");
  EXPECT_EQ(truncate(Op{4}, U128{1, 1}), "log.unknown_entry");
  EXPECT_EQ(truncate(Op{3}, U128{1, 1}), "log.unknown_entry");
  EXPECT_EQ(truncate(Op{2}, U128{1, 1}), "log.unknown_entry");
  EXPECT_EQ(segment(), before);
  EXPECT_EQ(log_->epoch(), 0U);
  send_and_run("d");
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0", "b0", "c0", "d0"}));
  EXPECT_FALSE(checkpoint("state").has_value()) << "only what is committed is checkpointed";
  EXPECT_EQ(truncate(Op{2}), "done");
}

TEST_F(Truncate, RefusesALogThatIsNotReplicated) {
  must_open();
  send_and_run("a");
  send_and_run("b");
  EXPECT_EQ(truncate(Op{1}), "log.committed");
}

TEST_F(Truncate, LeavesOutOfReachWhatACheckpointHolds) {
  must_open(replicated());
  send_and_run("a");
  send_and_run("b");
  send_and_run("c");
  log_->commit(Op{2});
  log_->write_checkpoint(Op{2}, ByteVector{}, [](Result<void>) {});
  queue_.run_all();
  must_open(replicated());
  ASSERT_EQ(log_->checkpoint_op(), Op{2});
  EXPECT_EQ(truncate(Op{1}), "log.committed");
  EXPECT_EQ(truncate(Op{2}), "done");
}

TEST_F(Truncate, AnswersWaitersAboveItAndNobodyIsToldOfThemLater) {
  must_open(replicated());
  send_a_to_d();
  std::string synced;
  log_->sync([&](Result<void> outcome) { synced = outcome ? "done" : std::string(outcome.error().code()); });
  truncated_ = "";
  log_->truncate(Op{1}, entries_.at(Op{1}).header().identity, [&](Result<void> outcome) { truncated_ = outcome ? "done" : "failed"; });
  std::string refused;
  log_->append(stamped(batch_of(1, "e")), [&](Result<void> outcome) { refused = std::string(outcome.error().code()); });
  EXPECT_EQ(refused, "log.out_of_sequence");
  queue_.run_all();
  EXPECT_EQ(truncated_, "done");
  for (const std::uint64_t op : {2, 3, 4}) EXPECT_EQ(outcomes_[Op{op}], "log.truncated") << op;
  EXPECT_EQ(synced, "done") << "nothing is left that it could lose";
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0"}));
  EXPECT_EQ(segment().size(), log::kSegmentPageBytes + entries_[Op{1}].header().stored_bytes());
}

TEST_F(Truncate, KeepsWhatWaitsBelowIt) {
  must_open(replicated());
  send_a_to_d();
  EXPECT_EQ(truncate(Op{3}), "done");
  EXPECT_EQ(outcomes_[Op{2}], "done");
  EXPECT_EQ(outcomes_[Op{3}], "done");
  EXPECT_EQ(outcomes_[Op{4}], "log.truncated");
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0", "b0", "c0"}));
}

TEST_F(Truncate, MayRemoveEverything) {
  must_open(replicated());
  const U128 root = log_->head().id;
  send_and_run("a");
  send_and_run("b");
  EXPECT_EQ(truncate(Op{0}, root), "done");
  EXPECT_EQ(segment().size(), log::kSegmentPageBytes);
  witness_.reset();
  must_open(replicated());
  EXPECT_TRUE(report_.clean);
  EXPECT_EQ(log_->head().op, Op{0});
  send_and_run("x");
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"x0"}));
}

TEST_F(Truncate, OfAnEntryThatIsInTheCacheAloneSyncsItFirst) {
  must_open(replicated());
  send_and_run("a", true);
  send_and_run("b", false);
  send_and_run("c", false);
  EXPECT_EQ(truncate(Op{2}), "done");
  EXPECT_EQ(log_->unsynced_bytes(), 0U);
  const auto slots = log::read_slots(Bytes(segment()).first(log::kSegmentPageBytes), Op{1});
  ASSERT_TRUE(slots.has_value());
  EXPECT_EQ(slots->newest->durable.head.op, Op{2});
  EXPECT_TRUE(slots->newest->is_clean());
}

TEST_F(Truncate, WaitsForTheSyncThatIsUnderWay) {
  must_open(replicated());
  for (const char* text : {"a", "b"}) send_and_run(text, false);
  std::optional<Result<void>> synced;
  log_->sync([&](Result<void> outcome) { synced = std::move(outcome); });
  ASSERT_EQ(queue_.size(), 1U);
  log_->truncate(Op{1}, entries_.at(Op{1}).header().identity, [this](Result<void>) { truncated_ = "done"; });
  EXPECT_EQ(queue_.size(), 1U) << "its slot would be that of the sync";
  queue_.run_all();
  EXPECT_EQ(truncated_, "done");
  EXPECT_TRUE(synced.has_value());
}

TEST_F(Truncate, LeavesASyncOfWhatGoesOneOfWhatStays) {
  must_open(replicated());
  send_and_run("a", false);
  send_and_run("b", false);
  log_->sync([](Result<void>) {});  // under way
  send_and_run("c", false);
  std::optional<Result<void>> synced;
  log_->sync([&](Result<void> outcome) { synced = std::move(outcome); });  // the next one
  EXPECT_EQ(truncate(Op{2}), "done");
  ASSERT_TRUE(synced.has_value());
  EXPECT_TRUE(synced->has_value()) << synced->error().to_string();
  EXPECT_EQ(log_->unsynced_bytes(), 0U);
}

TEST_F(Truncate, ThatFailsHalfWayFencesTheLog) {
  must_open(replicated());
  send_and_run("a");
  send_and_run("b");
  storage_.fault = MemoryStorage::Fault{Change::kSync, 1, EIO};
  EXPECT_EQ(truncate(Op{1}), "log.fenced");
  EXPECT_TRUE(log_->fenced());
}

TEST_F(Truncate, CutsTheIndexBeforeTheLog) {
  auto with = replicated();
  with.index_stride_bytes = 1;
  must_open(with);
  for (const char* text : {"a", "b", "c"}) send_and_run(text);
  storage_.fault = MemoryStorage::Fault{Change::kTruncate, 2, EIO};
  EXPECT_EQ(truncate(Op{1}), "log.fenced");
  EXPECT_EQ(storage_.fault_path, path_of(Op{1}));
  must_open(with);
  EXPECT_EQ(report_.indexes_rebuilt, 0U) << "it reached beyond the log";
}

TEST_F(Truncate, OfALogThatIsDestroyedIsAnswered) {
  must_open(replicated());
  send_and_run("a");
  send_and_run("b");
  log_->truncate(Op{1}, entries_.at(Op{1}).header().identity,
                 [&](Result<void> outcome) { truncated_ = outcome ? "done" : std::string(outcome.error().code()); });
  log_.reset();
  EXPECT_EQ(truncated_, "log.stopped");
  queue_.run_all();
}

// A roll that met a full disk has made a file whose name continues what goes.
TEST_F(Truncate, RemovesWhatAnInterruptedRollLeft) {
  must_open(replicated());
  send_and_run("a");
  while (log_->sealed_segments().empty()) {
    storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
    send("b");
    queue_.run_all();
    const bool page = storage_.fault_path.ends_with(".log") && storage_.fault_path != path_of(Op{1});
    if (page) break;
    storage_.fault.reset();
    (void)log_->storage_full();
    queue_.run_all();
  }
  ASSERT_TRUE(storage_.fault_path.ends_with(".log") && storage_.fault_path != path_of(Op{1})) << storage_.fault_path;
  ASSERT_TRUE(storage_.exists(storage_.fault_path));
  EXPECT_EQ(truncate(Op{1}), "done");
  EXPECT_FALSE(storage_.exists(storage_.fault_path)) << storage_.fault_path;
  EXPECT_FALSE(log_->storage_full());
  send_and_run("x");
  must_open(replicated());
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0", "x0"}));
}

}  // namespace
}  // namespace sluice::test
