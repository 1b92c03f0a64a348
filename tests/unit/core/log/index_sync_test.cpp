// SPDX-License-Identifier: Apache-2.0
// The log's half and the index's half of a flush: both, or neither.
#include <algorithm>

#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

// Jobs in an order that the test chooses.
class HalvesTest : public LogFixture {
 protected:
  static log::LogOptions both() {
    auto out = options();
    out.index_sync = true;
    out.index_stride_bytes = 1;  // an index entry for every entry
    return out;
  }
  void TearDown() override { kill(); }
  void send(const std::string& text) {
    log_->append(stamped(batch_of(1, text), true),
                 [this](Result<void> result) { outcomes_.emplace_back(result ? "ok" : result.error().code()); });
  }
  // The n-th write to a file with that ending is the one that fails: the log's half writes the slot and the entries, then the index's half
  // one.
  void fail_write(std::uint64_t nth, int error_number) { storage_.fault = MemoryStorage::Fault{Change::kWrite, nth, error_number}; }

  std::vector<std::string> outcomes_;
};
using Halves = HalvesTest;

TEST_F(Halves, AreSyncedAtTheSameTimeAndReportedTogether) {
  must_open(both());
  send("a");
  ASSERT_EQ(queue_.size(), 2U);
  const std::uint64_t syncs = storage_.syncs;
  queue_.run_one();
  EXPECT_EQ(storage_.syncs, syncs + 1);
  EXPECT_EQ(outcomes_.size(), 0U) << "the log alone is not enough";
  EXPECT_EQ(log_->acknowledged_op(), Op{0});
  queue_.run_one();
  EXPECT_EQ(storage_.syncs, syncs + 2);
  EXPECT_EQ(outcomes_, std::vector<std::string>{"ok"});
}

TEST_F(Halves, ShareTheirSyncAlsoWhereEntriesAskForNone) {
  must_open(both());
  must_append(batch_of(1, "a"), true);
  must_append(batch_of(1, "b"), false);
  const std::uint64_t syncs = storage_.syncs;
  ASSERT_TRUE(sync().has_value());
  EXPECT_EQ(storage_.syncs, syncs + 2);
}

TEST_F(Halves, OfADefaultLogSyncTheIndexWithItsSegmentOnly) {
  auto with = options();
  with.index_stride_bytes = 1;
  with.segment_bytes = 8192;
  must_open(with);
  const std::uint64_t syncs = storage_.syncs;
  must_append(batch_of(1, "a"), true);
  EXPECT_EQ(storage_.syncs, syncs + 1);
  // A roll syncs the log, then the index, then what is new.
  for (int i = 0; i < 40; ++i) {
    storage_.fault = MemoryStorage::Fault{Change::kSync, 2, EIO};
    if (!append(batch_of(1, std::string(1000, 'b')))) break;
  }
  EXPECT_EQ(storage_.fault_path, index_path_of(Op{1}));
  EXPECT_TRUE(log_->fenced());
}

// Full: the slot, the entries (half of them are written), the index entry. Whatever the other half did, the same bytes go to the same
// places.
TEST_F(Halves, KeepTheirPlacesIfOneFindsNoRoom) {
  for (const std::uint64_t nth : {1U, 2U, 3U}) {
    storage_ = MemoryStorage();
    witness_.reset();
    outcomes_.clear();
    must_open(both());
    must_append(batch_of(1, "a"), true);
    const std::uint64_t log_end = segment().size();
    const std::size_t index_end = storage_.bytes(index_path_of(Op{1})).size();
    send("b");
    // A failed half of the log leaves the index's alone to be written, and the other way round.
    fail_write(nth, ENOSPC);
    queue_.run_all();
    EXPECT_EQ(outcomes_.size(), 0U) << nth;
    EXPECT_EQ(log_->acknowledged_op(), Op{1}) << nth;
    EXPECT_EQ(log_->size_bytes(), log_end) << nth;
    ASSERT_FALSE(log_->fenced()) << nth;
    EXPECT_TRUE(log_->storage_full()) << nth;  // and tries again
    queue_.run_all();
    EXPECT_EQ(outcomes_, std::vector<std::string>{"ok"}) << nth;
    EXPECT_EQ(segment().size(), log_end + (log_end - log::kSegmentPageBytes)) << "where the first try began";
    EXPECT_EQ(storage_.bytes(index_path_of(Op{1})).size(), index_end + log::kIndexEntryBytes) << nth;
    must_append(batch_of(1, "c"), true);
    must_open(both());
    EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0", "b0", "c0"}));
    EXPECT_EQ(report_.indexes_rebuilt + report_.index_entries_added, 0U) << nth;
    EXPECT_FALSE(report_.cut.has_value()) << nth;
  }
}

TEST_F(Halves, FenceIfOneFailsForGood) {
  struct Way {
    Change change;
    std::uint64_t nth;
    int error_number;
  };
  // Slot, entries, index entry; the sync of either, whatever it says.
  const std::vector<Way> ways{{Change::kWrite, 1, EIO}, {Change::kWrite, 2, EIO},   {Change::kWrite, 3, EIO},  {Change::kSync, 1, EIO},
                              {Change::kSync, 2, EIO},  {Change::kSync, 1, ENOSPC}, {Change::kSync, 2, ENOSPC}};
  for (const Way& way : ways) {
    storage_ = MemoryStorage();
    witness_.reset();
    outcomes_.clear();
    must_open(both());
    must_append(batch_of(1, "a"), true);
    send("b");
    storage_.fault = MemoryStorage::Fault{way.change, way.nth, way.error_number};
    queue_.run_all();
    ASSERT_FALSE(storage_.fault);
    EXPECT_EQ(outcomes_, std::vector<std::string>{"log.fenced"});
    EXPECT_TRUE(log_->fenced());
    EXPECT_EQ(log_->acknowledged_op(), Op{1});
    must_open(both());
    EXPECT_EQ(payloads(Offset{0}).front(), "a0");
  }
}

// One half finds no room, the other fails for good: there is no next flush.
TEST_F(Halves, FenceIfOneMayBeTriedAgainAndTheOtherMayNot) {
  must_open(both());
  must_append(batch_of(1, "a"), true);
  send("b");
  fail_write(2, ENOSPC);
  queue_.run_one();
  fail_write(1, EIO);
  queue_.run_all();
  EXPECT_EQ(outcomes_, std::vector<std::string>{"log.fenced"});
}

}  // namespace
}  // namespace sluice::test
