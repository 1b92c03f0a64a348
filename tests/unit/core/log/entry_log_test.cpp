// SPDX-License-Identifier: Apache-2.0
#include "core/log/entry_log.hpp"

#include <algorithm>

#include "core/log/frontier_writer.hpp"
#include "core/log/recovery.hpp"

#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class EntryLogTest : public LogFixture {};
using EntryLog = EntryLogTest;

TEST_F(EntryLog, BeginsEmptyAtOpOneAndOffsetZero) {
  must_open();
  EXPECT_TRUE(report_.created);
  EXPECT_EQ(log_->head().op, Op{0});
  EXPECT_EQ(log_->head().next_offset, Offset{0});
  EXPECT_EQ(log_->first_op(), Op{1});
  EXPECT_TRUE(payloads(Offset{0}).empty());
}

TEST_F(EntryLog, KeepsWhatWasAppendedAcrossAReopen) {
  must_open();
  must_append(batch_of(3, "a"));
  must_append(operation_of("commit"));
  must_append(batch_of(2, "b"), true);
  const log::LogHead head = log_->head();
  const std::vector<std::string> expected{"a0", "a1", "a2", "b0", "b1"};
  EXPECT_EQ(payloads(Offset{0}), expected);
  must_open();
  EXPECT_EQ(log_->head().op, head.op);
  EXPECT_EQ(log_->head().id, head.id);
  EXPECT_EQ(log_->head().next_offset, Offset{5});
  EXPECT_EQ(payloads(Offset{0}), expected);
  EXPECT_EQ(payloads(Offset{4}), std::vector<std::string>{"b1"});
}

TEST_F(EntryLog, AcknowledgesAfterTheSyncOnlyIfTheEntryAsksForIt) {
  must_open();
  must_append(batch_of(1, "first"));  // offsets are reserved with it
  int durable = 0;
  log_->append(stamped(batch_of(1, "off")), [&](Result<void> result) { durable += result ? 1 : 100; });
  EXPECT_EQ(durable, 1);
  EXPECT_EQ(queue_.size(), 0U);
  const std::uint64_t syncs = storage_.syncs;
  log_->append(stamped(batch_of(1, "on"), true), [&](Result<void> result) { durable += result ? 1 : 100; });
  EXPECT_EQ(durable, 1);
  queue_.run_all();
  EXPECT_EQ(durable, 2);
  EXPECT_EQ(storage_.syncs, syncs + 1);
}

TEST_F(EntryLog, GathersWaitersIntoOneFlushWhileAnotherIsInFlight) {
  must_open();
  const std::uint64_t syncs = storage_.syncs;
  std::vector<int> order;
  for (int i = 0; i < 8; ++i) {
    log_->append(stamped(batch_of(1, "x"), true), [&, i](Result<void> result) { order.push_back(result ? i : -1); });
  }
  EXPECT_EQ(queue_.size(), 1U);
  queue_.run_all();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(storage_.syncs, syncs + 2);
}

TEST_F(EntryLog, TakesWhatWaitersAppendInAnswerIntoOneFlush) {
  must_open();
  int again = 0;
  for (int i = 0; i < 4; ++i) {
    log_->append(stamped(batch_of(1, "x"), true),
                 [&](Result<void>) { log_->append(stamped(batch_of(1, "y"), true), [&](Result<void>) { ++again; }); });
  }
  const std::uint64_t syncs = storage_.syncs;
  queue_.run_all();
  EXPECT_EQ(again, 4);
  // One for the first entry, one for the other three and the first answer, one for the other three answers.
  EXPECT_EQ(storage_.syncs, syncs + 3);
}

TEST_F(EntryLog, WritesUnsyncedEntriesWhileASyncRuns) {
  must_open();
  must_append(batch_of(1, "a"));
  bool synced = false;
  log_->sync([&](Result<void> result) { synced = result.has_value(); });
  EXPECT_EQ(queue_.size(), 1U);
  bool written = false;
  log_->append(stamped(batch_of(1, "b")), [&](Result<void> result) { written = result.has_value(); });
  EXPECT_TRUE(written);
  EXPECT_FALSE(synced);
  queue_.run_all();
  EXPECT_TRUE(synced);
  EXPECT_GT(log_->unsynced_bytes(), 0U);
  ASSERT_TRUE(sync().has_value());
  EXPECT_EQ(log_->unsynced_bytes(), 0U);
}

TEST_F(EntryLog, RefusesAnEntryThatDoesNotFollow) {
  must_open();
  must_append(batch_of(1, "a"));
  const auto code_of = [this](const std::function<void(entry::EntryStamp&)>& change) {
    entry::EntryDraft draft = batch_of(1, "b");
    entry::EntryStamp stamp = log_->next_stamp(draft, clock_.wall(), false);
    change(stamp);
    std::string code;
    log_->append(std::move(draft).stamp(stamp), [&](Result<void> result) { code = result ? "taken" : result.error().code(); });
    queue_.run_all();
    return code;
  };
  EXPECT_EQ(code_of([](entry::EntryStamp& stamp) { stamp.op = stamp.op.next(); }), "log.out_of_sequence");
  EXPECT_EQ(code_of([](entry::EntryStamp& stamp) { stamp.parent = U128{1, 2}; }), "log.out_of_sequence");
  EXPECT_EQ(code_of([](entry::EntryStamp& stamp) { stamp.base_offset = stamp.base_offset.next(); }), "log.out_of_sequence");
  const TimestampUs last = log_->head().last_timestamp;
  EXPECT_EQ(code_of([last](entry::EntryStamp& stamp) { stamp.timestamp = last; }), "log.out_of_sequence");
  EXPECT_EQ(code_of([](entry::EntryStamp& stamp) { stamp.incarnation = Incarnation{4}; }), "log.out_of_sequence");
  must_append(batch_of(1, "c"));
}

TEST_F(EntryLog, RollsBySizeAndReadsAcrossSegments) {
  auto with = options();
  with.segment_bytes = 6000;
  with.hot_bytes = 0;
  must_open(with);
  std::vector<std::string> expected;
  for (int i = 0; i < 30; ++i) {
    must_append(batch_of(2, std::to_string(i) + "-"), i % 2 == 0);
    expected.push_back(std::to_string(i) + "-0");
    expected.push_back(std::to_string(i) + "-1");
  }
  EXPECT_GT(log_->sealed_segments().size(), 3U);
  EXPECT_EQ(payloads(Offset{0}), expected);
  EXPECT_EQ(payloads(Offset{0}, 1), expected);
  EXPECT_EQ(payloads(Offset{0}, 1, false), expected);
  must_open(with);
  EXPECT_EQ(payloads(Offset{0}, 700), expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(payloads(Offset{i}), std::vector<std::string>(expected.begin() + static_cast<std::ptrdiff_t>(i), expected.end()));
  }
}

TEST_F(EntryLog, RollsInTheMiddleOfOneAppend) {
  auto with = options();
  with.segment_bytes = 6000;
  must_open(with);
  // Stamps depend on what is queued, so entries that are appended together are stamped against a twin.
  std::vector<entry::SharedEntry> all;
  for (int i = 0; i < 30; ++i) {
    entry::SharedEntry next = stamped(batch_of(2, "p"), i % 3 == 0);
    all.push_back(next);
    log_->append(next, [](Result<void>) {});
  }
  queue_.run_all();
  const MemoryStorage::Files apart = storage_.snapshot();
  kill();
  storage_.restore({});
  must_open(with);
  bool done = false;
  log_->append(all, [&](Result<void> result) { done = result.has_value(); });
  queue_.run_all();
  EXPECT_TRUE(done);
  for (const auto& [path, node] : apart) {
    ASSERT_TRUE(storage_.exists(path)) << path;
    EXPECT_TRUE(std::ranges::equal(storage_.bytes(path), node->bytes)) << path;
  }
}

// The first poll after a restart begins on disk and goes on in memory.
TEST_F(EntryLog, SkipsNoOffsetWhereDiskAndMemoryMeet) {
  must_open();
  must_append(batch_of(2, "a"));
  must_append(batch_of(2, "b"));
  must_open();
  must_append(batch_of(2, "c"));
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0", "a1", "b0", "b1", "c0", "c1"}));
  EXPECT_EQ(payloads(Offset{3}), (std::vector<std::string>{"b1", "c0", "c1"}));
}

TEST_F(EntryLog, ReturnsNothingBeyondTheCommit) {
  must_open();
  for (const std::string name : {"a", "b", "c"}) must_append(batch_of(1, name));
  std::optional<log::ReadResult> hot;
  log_->read({Offset{0}, Op{2}, 1u << 20, std::nullopt}, [&](Result<log::ReadResult> result) { hot = std::move(*result); });
  ASSERT_TRUE(hot.has_value());
  EXPECT_EQ(hot->entries.size(), 2U);
  must_open();
  std::optional<log::ReadResult> cold;
  log_->read({Offset{0}, Op{2}, 1u << 20, std::nullopt}, [&](Result<log::ReadResult> result) { cold = std::move(*result); });
  queue_.run_all();
  ASSERT_TRUE(cold.has_value());
  EXPECT_EQ(cold->entries.size(), 2U);
  EXPECT_EQ(cold->cursor.offset, Offset{2});
}

TEST_F(EntryLog, ReadsByOpEveryKind) {
  for (const std::uint64_t hot_bytes : {0ULL, 1ULL << 20}) {
    storage_ = MemoryStorage();
    auto with = options();
    with.hot_bytes = hot_bytes;
    must_open(with);
    must_append(batch_of(2, "a"));
    must_append(operation_of("x"));
    must_append(entry::EntryDraft::gap(Offset{10}));
    must_append(batch_of(1, "b"));
    std::vector<entry::EntryKind> kinds;
    log_->read_ops(Op{2}, Op{9}, 1u << 20, [&](Result<std::vector<entry::SharedEntry>> result) {
      ASSERT_TRUE(result.has_value());
      for (const auto& shared : *result) kinds.push_back(shared.header().kind);
    });
    queue_.run_all();
    EXPECT_EQ(kinds, (std::vector<entry::EntryKind>{entry::EntryKind::kPartitionOp, entry::EntryKind::kGap, entry::EntryKind::kMessages}));
    EXPECT_EQ(log_->head().next_offset, Offset{11});
    EXPECT_EQ(payloads(Offset{5}), std::vector<std::string>{"b0"});
  }
}

TEST_F(EntryLog, FindsAnEntryAmongManyThatHoldNoMessages) {
  auto with = options();
  with.hot_bytes = 0;
  with.index_stride_bytes = 1024;
  must_open(with);
  must_append(batch_of(1, "a"));
  for (int i = 0; i < 600; ++i) must_append(operation_of(std::string(200, 'o')));
  must_append(batch_of(1, "b"));
  EXPECT_EQ(payloads(Offset{0}, 1), (std::vector<std::string>{"a0", "b0"}));
  EXPECT_EQ(payloads(Offset{1}, 1), std::vector<std::string>{"b0"});
}

TEST_F(EntryLog, FindsOffsetsByTime) {
  auto with = options();
  with.segment_bytes = 6000;
  with.index_stride_bytes = 300;
  must_open(with);
  std::vector<TimestampUs> times;
  for (int i = 0; i < 40; ++i) {
    clock_.advance(std::chrono::milliseconds(10));
    must_append(batch_of(2, "x"));
    times.push_back(log_->head().last_timestamp);
    must_append(operation_of("o"));
  }
  const auto offset_at = [&](TimestampUs at) {
    std::optional<Offset> out;
    log_->offset_for_time(at, log_->acknowledged_op(), [&](Result<Offset> result) { out = *result; });
    queue_.run_all();
    return out.value();
  };
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(offset_at(times[i]), Offset{2 * i});
    EXPECT_EQ(offset_at(times[i] + 1), Offset{2 * i + 2});
  }
  EXPECT_EQ(offset_at(TimestampUs{0}), Offset{0});
}

// A segment that is opened again brings its index from the disk, where anything may have happened to it.
TEST_F(EntryLog, ReadsEverythingWhateverTheIndexOfAColdSegmentSays) {
  auto with = options();
  with.segment_bytes = 6000;
  with.index_stride_bytes = 300;
  with.hot_bytes = 0;
  must_open(with);
  std::vector<std::string> expected;
  std::vector<TimestampUs> times;
  for (int i = 0; i < 12; ++i) {
    clock_.advance(std::chrono::milliseconds(10));
    must_append(batch_of(2, std::to_string(i) + "-"));
    times.push_back(log_->head().last_timestamp);
    expected.push_back(std::to_string(i) + "-0");
    expected.push_back(std::to_string(i) + "-1");
  }
  const std::uint64_t in_first = log_->sealed_segments().at(0).next_offset.value();
  kill();
  const ByteVector right = storage_.bytes(index_path_of(Op{1}));
  ASSERT_GE(right.size(), 3 * log::kIndexEntryBytes);
  for (std::size_t at = 0; at < right.size(); ++at) {
    for (const unsigned bit : {0U, 3U, 7U}) {
      storage_.bytes(index_path_of(Op{1})) = right;
      must_open(with);
      storage_.bytes(index_path_of(Op{1}))[at] ^= std::byte{1} << bit;
      for (std::uint64_t from = 0; from < in_first; from += 3) {
        ASSERT_EQ(payloads(Offset{from}, 1, false),
                  std::vector<std::string>(expected.begin() + static_cast<std::ptrdiff_t>(from), expected.end()))
            << "byte " << at << ", bit " << bit << ", from " << from;
      }
      for (std::size_t i = 0; i < 6; ++i) {
        std::optional<Offset> found;
        log_->offset_for_time(times[i], log_->acknowledged_op(), [&](Result<Offset> result) { found = result.value_or(Offset{999}); });
        queue_.run_all();
        ASSERT_EQ(found, Offset{2 * i}) << "byte " << at << ", bit " << bit;
      }
      kill();
    }
  }
}

TEST_F(EntryLog, AnswersByTimeWhileRetentionTakesTheSegmentAway) {
  auto with = options();
  with.segment_bytes = 6000;
  must_open(with);
  for (int i = 0; i < 30; ++i) must_append(batch_of(2, "x"));
  must_open(with);
  ASSERT_TRUE(checkpoint("state").has_value());
  const auto sealed = log_->sealed_segments();
  std::optional<Result<Offset>> found;
  log_->offset_for_time(TimestampUs{0}, log_->acknowledged_op(), [&](Result<Offset> result) { found = std::move(result); });
  storage_.erase(path_of(Op{1}));
  log_->drop_before(sealed[0].next_offset, [](Result<std::size_t>) {});
  queue_.run_all();
  ASSERT_TRUE(found.has_value());
  ASSERT_TRUE(found->has_value()) << found->error().to_string();
  EXPECT_EQ(**found, sealed[0].next_offset);
}

TEST_F(EntryLog, DropsWholeLeadingSegmentsBelowCheckpointAndFloor) {
  auto with = options();
  with.segment_bytes = 6000;
  must_open(with);
  for (int i = 0; i < 30; ++i) must_append(batch_of(2, "x"));
  EXPECT_EQ(drop_before(Offset{60}).value(), 0U) << "nothing goes before a checkpoint covers it";
  ASSERT_TRUE(checkpoint("state").has_value());
  const auto sealed = log_->sealed_segments();
  EXPECT_EQ(drop_before(sealed[1].next_offset).value(), 2U);
  EXPECT_EQ(log_->first_offset(), sealed[1].next_offset);
  EXPECT_EQ(log_->first_op(), sealed[2].first_op);
  const auto below = read(Offset{0});
  ASSERT_FALSE(below.has_value());
  EXPECT_EQ(below.error().code(), "log.out_of_range");
  must_open(with);
  EXPECT_EQ(log_->first_offset(), sealed[1].next_offset);
  ASSERT_TRUE(checkpoint_.has_value());
  EXPECT_EQ(as_text(checkpoint_->body), "state");
  EXPECT_EQ(payloads(log_->first_offset()).size(), 60 - log_->first_offset().value());
}

TEST_F(EntryLog, RetriesASegmentThatCouldNotBeRemovedBeforeTheNextOne) {
  must_open(small());
  fill(40);
  ASSERT_TRUE(checkpoint("state").has_value());
  const auto sealed = log_->sealed_segments();
  storage_.fault = MemoryStorage::Fault{Change::kRemove, 1, EIO};
  EXPECT_FALSE(drop_before(sealed[0].next_offset).has_value());
  EXPECT_EQ(drop_before(sealed[1].next_offset).value(), 2U);
  must_open(small());
  EXPECT_EQ(log_->first_op(), sealed[2].first_op);
}

TEST_F(EntryLog, KeepsTheNextSegmentUntilTheOneBeforeItIsDurablyGone) {
  must_open(small());
  fill(40);
  ASSERT_TRUE(checkpoint("state").has_value());
  const auto sealed = log_->sealed_segments();
  storage_.fault = MemoryStorage::Fault{Change::kSyncDirectory, 1, EIO};
  EXPECT_FALSE(drop_before(sealed[1].next_offset).has_value());
  EXPECT_FALSE(storage_.exists(path_of(sealed[0].first_op)));
  EXPECT_TRUE(storage_.exists(path_of(sealed[1].first_op))) << "a crash may bring the first one back: no hole behind it";
}

TEST_F(EntryLog, SealsASegmentBeforeItCompletesTheNextOne) {
  auto with = options();
  with.segment_bytes = 6000;
  must_open(with);
  must_append(batch_of(2, "x"));
  std::size_t answers = 0;
  for (int i = 0; i < 40 && log_->sealed_segments().empty(); ++i) {
    log_->append(stamped(batch_of(2, "x")), [&](Result<void> result) { answers += result ? 1U : 0U; });
    if (queue_.size() > 0) queue_.run_one();
  }
  ASSERT_EQ(queue_.size(), 1U) << "the seal";
  for (int i = 0; i < 20; ++i) log_->append(stamped(batch_of(2, "x")), [&](Result<void> result) { answers += result ? 1U : 0U; });
  EXPECT_EQ(queue_.size(), 1U) << "the next roll waits for it";
  EXPECT_EQ(log_->sealed_segments().size(), 1U);
  queue_.run_all();
  EXPECT_GT(log_->sealed_segments().size(), 2U);
  EXPECT_EQ(log_->acknowledged_op(), log_->head().op);
}

TEST_F(EntryLog, ReportsDamageInACompleteSegmentWithItsPosition) {
  auto with = options();
  with.segment_bytes = 6000;
  with.hot_bytes = 0;
  must_open(with);
  for (int i = 0; i < 30; ++i) must_append(batch_of(2, "x"));
  const std::size_t entry_bytes = (segment().size() - log::kSegmentPageBytes) / (log_->sealed_segments()[0].last_op - Op{1} + 1);
  segment()[log::kSegmentPageBytes + 2 * entry_bytes + 250] ^= std::byte{1};
  auto prefix = read(Offset{0});
  ASSERT_TRUE(prefix.has_value());
  EXPECT_EQ(prefix->entries.size(), 2U);
  const auto damaged = read(prefix->cursor.offset, 1u << 20, prefix->cursor);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().code(), "log.damaged_entry");
  EXPECT_NE(damaged.error().to_string().find("position=" + std::to_string(log::kSegmentPageBytes + 2 * entry_bytes)), std::string::npos)
      << damaged.error().to_string();
  EXPECT_NE(damaged.error().to_string().find(path_of(Op{1})), std::string::npos);
}

TEST_F(EntryLog, IsFencedByAFailedSyncForGood) {
  must_open();
  must_append(batch_of(1, "a"), true);
  storage_.fault = MemoryStorage::Fault{Change::kSync, 1, EIO};
  const auto failed = append(batch_of(1, "b"), true);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code(), "log.fenced");
  const std::uint64_t changes = storage_.changes;
  EXPECT_EQ(append(batch_of(1, "c"), true).error().code(), "log.fenced");
  EXPECT_EQ(append(batch_of(1, "d"), false).error().code(), "log.fenced");
  EXPECT_EQ(sync().error().code(), "log.fenced");
  EXPECT_EQ(storage_.changes, changes) << "a fenced log writes nothing";
  ASSERT_TRUE(log_->fenced().has_value());
  EXPECT_TRUE(storage_.exists(kDirectory + "/" + log::kFencedName));
  must_open();
  ASSERT_TRUE(report_.fence_mark.has_value());
  EXPECT_NE(report_.fence_mark->find("log.fenced"), std::string::npos);
  EXPECT_EQ(log_->head().op, Op{2});
  EXPECT_GT(report_.bytes_rewritten, 0U) << "what the failed sync may have dropped is written again";
  EXPECT_FALSE(storage_.exists(kDirectory + "/" + log::kFencedName));
}

TEST_F(EntryLog, TellsWaitersWhenItIsDestroyed) {
  must_open();
  std::string code;
  log_->append(stamped(batch_of(1, "a"), true), [&](Result<void> result) { code = result ? "ok" : result.error().code(); });
  log_.reset();
  EXPECT_EQ(code, "log.stopped");
  queue_.run_all();
}

TEST_F(EntryLog, SyncsBeforeItCloses) {
  must_open();
  must_append(batch_of(1, "a"));
  const std::uint64_t syncs = storage_.syncs;
  std::optional<Result<void>> closed;
  log_->close([&](Result<void> result) { closed = std::move(result); });
  queue_.run_all();
  ASSERT_TRUE(closed.has_value() && closed->has_value());
  EXPECT_EQ(storage_.syncs, syncs + 2) << "the entries, and then that nothing is in doubt";
  EXPECT_EQ(append(batch_of(1, "b")).error().code(), "log.stopped");
  EXPECT_EQ(payloads(Offset{0}), std::vector<std::string>{"a0"});
}

TEST_F(EntryLog, WritesNothingWhenItIsClosedAndOpenedAgain) {
  must_open();
  must_append(batch_of(1, "a"), true);
  close_log();
  const std::uint64_t changes = storage_.changes;
  must_open();
  close_log();
  EXPECT_EQ(storage_.changes, changes + 2) << "recovery's syncs of the log and of the directory";
}

// In both modes nothing is acknowledged beyond the limit of a slot that was synced before.
TEST_F(EntryLog, ReservesOffsetsBeforeTheyAreAcknowledged) {
  must_open();
  std::size_t synced_slots = 0;
  for (int i = 0; i < 12; ++i) {
    entry::BatchBuilder builder;
    for (int k = 0; k < 10'000; ++k) ASSERT_TRUE(builder.add(RecordView()).has_value());
    std::optional<Result<void>> outcome;
    log_->append(stamped(*std::move(builder).finish(), i % 4 == 3), [&](Result<void> result) { outcome = std::move(result); });
    for (; !outcome; ++synced_slots) queue_.run_one();
    ASSERT_TRUE(outcome->has_value());
    const auto slots = log::read_slots(Bytes(segment()).first(log::kSegmentPageBytes), Op{1});
    ASSERT_TRUE(slots.has_value());
    ASSERT_GE(slots->newest->limit.offset, log_->acknowledged().next_offset);
    ASSERT_GE(slots->newest->limit.op, log_->acknowledged_op());
    ASSERT_EQ(slots->newest->limit.offset.value() % log::kLimitBlock, 0U);
    queue_.run_all();
  }
  EXPECT_GE(synced_slots, 3U);
}

TEST_F(EntryLog, KeepsTimestampsAscendingWhenTheClockGoesBack) {
  must_open();
  clock_.set_wall(TimestampUs{2'000'000'000'000'000});
  must_append(batch_of(1, "ahead"));
  const TimestampUs ahead = log_->head().last_timestamp;
  must_open();
  clock_.set_wall(TimestampUs{1'700'000'000'000'000});
  must_append(batch_of(1, "back"));
  EXPECT_EQ(log_->head().last_timestamp, ahead + 1);
}

}  // namespace
}  // namespace sluice::test
