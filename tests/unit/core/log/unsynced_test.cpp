// SPDX-License-Identifier: Apache-2.0
// What lies in the page cache without a sync is bounded for all logs of a shard together.
#include <algorithm>

#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

// Two logs of one shard.
class UnsyncedTest : public LogFixture {
 protected:
  void open_both(std::uint64_t bytes_max) {
    auto with = options();
    with.unsynced = std::make_shared<log::UnsyncedBudget>(bytes_max);
    must_open(with);
    with.directory = "/data/other";
    auto opened = log::EntryLog::open(storage_, queue_, with);
    ASSERT_TRUE(opened.has_value());
    other_ = std::move(opened->log);
    // The limits are durable from here on.
    append_to(*log_, 1);
    append_to(*other_, 1);
    queue_.run_all();
    sync_both();
    answered_ = 0;
  }
  void append_to(log::EntryLog& log, std::size_t payload, bool must_sync = false) {
    entry::EntryDraft draft = batch_of(1, std::string(payload, 'x'));
    const entry::EntryStamp stamp = log.next_stamp(draft, clock_.wall(), must_sync);
    log.append(std::move(draft).stamp(stamp), [this](Result<void> result) { answered_ += result ? 1 : 1000; });
  }
  void sync_both() {
    log_->sync([](Result<void>) {});
    other_->sync([](Result<void>) {});
    queue_.run_all();
  }
  void TearDown() override {
    kill();
    other_.reset();
    queue_.run_all();
  }

  std::unique_ptr<log::EntryLog> other_;
  int answered_ = 0;
};
using Unsynced = UnsyncedTest;

TEST_F(Unsynced, BytesOfOneLogHoldUpTheOtherUntilTheyAreSynced) {
  open_both(10'000);
  append_to(*log_, 8000);
  EXPECT_EQ(answered_, 1);
  EXPECT_EQ(queue_.size(), 0U);
  append_to(*other_, 3000);
  EXPECT_EQ(answered_, 1) << "there is no room for it";
  ASSERT_EQ(queue_.size(), 1U) << "a sync is started at once";
  append_to(*other_, 100);
  EXPECT_EQ(other_->head().op, Op{3}) << "entries are taken, and wait";
  EXPECT_EQ(other_->acknowledged_op(), Op{1});
  queue_.run_one();
  EXPECT_EQ(answered_, 3);
  EXPECT_EQ(log_->unsynced_bytes(), 0U);
  EXPECT_GT(other_->unsynced_bytes(), 3000U);
}

TEST_F(Unsynced, BytesOfTheLogItselfHoldItUp) {
  open_both(10'000);
  for (int i = 0; i < 20; ++i) append_to(*log_, 2000);
  EXPECT_EQ(answered_, 4);
  EXPECT_LE(log_->unsynced_bytes(), 10'000U);
  queue_.run_all();
  EXPECT_EQ(answered_, 20);
}

TEST_F(Unsynced, AnEntryThatIsLargerThanAllOfItIsWrittenWhenNothingElseWaitsForASync) {
  open_both(1000);
  append_to(*log_, 5000);
  EXPECT_EQ(answered_, 1);
  append_to(*other_, 5000);
  EXPECT_EQ(answered_, 1);
  queue_.run_all();
  EXPECT_EQ(answered_, 2);
}

TEST_F(Unsynced, ASyncedEntryNeedsNoRoom) {
  open_both(10'000);
  append_to(*log_, 9000);
  append_to(*other_, 9000, true);
  queue_.run_all();
  EXPECT_EQ(answered_, 2);
  EXPECT_EQ(other_->unsynced_bytes(), 0U);
  EXPECT_GT(log_->unsynced_bytes(), 9000U) << "and asks nobody for a sync";
}

// In their order: small writes that come later do not keep a large one out for ever.
TEST_F(Unsynced, WhoWaitsLongestIsFirst) {
  open_both(10'000);
  append_to(*log_, 4000);
  append_to(*other_, 7000);
  append_to(*log_, 100);
  EXPECT_EQ(answered_, 1) << "there is room for 100 bytes, but the other log was first";
  queue_.run_all();
  EXPECT_EQ(answered_, 3);
}

TEST_F(Unsynced, AFencedLogHoldsNothing) {
  open_both(10'000);
  append_to(*log_, 8000);
  append_to(*other_, 8000);
  EXPECT_EQ(answered_, 1);
  storage_.fault = MemoryStorage::Fault{Change::kSync, 1, EIO};
  queue_.run_one();
  EXPECT_TRUE(log_->fenced());
  EXPECT_EQ(answered_, 2) << "the fenced one's bytes are nobody's";
}

TEST_F(Unsynced, ALogThatIsGoneHoldsNothing) {
  open_both(10'000);
  append_to(*log_, 8000);
  append_to(*other_, 8000);
  EXPECT_EQ(answered_, 1);
  log_.reset();
  EXPECT_EQ(answered_, 2);
}

TEST_F(Unsynced, ALogThatWaitsCanBeDestroyed) {
  open_both(10'000);
  append_to(*log_, 8000);
  append_to(*other_, 8000);
  other_.reset();
  EXPECT_EQ(answered_, 1001);
  queue_.run_all();
  append_to(*log_, 9000);
  queue_.run_all();
  EXPECT_EQ(answered_, 1002);
}

TEST(UnsyncedBudget, AsksForASyncOfTheSameBytesOnce) {
  const auto budget = std::make_shared<log::UnsyncedBudget>(100);
  int asked = 0;
  bool can = false;
  log::UnsyncedBudget::Share holder(
      budget,
      [&] {
        ++asked;
        return can;
      },
      [] {});
  log::UnsyncedBudget::Share other(budget, [] { return false; }, [] {});
  holder.add(100);
  EXPECT_FALSE(other.may_add(50));
  EXPECT_FALSE(other.may_add(50));
  EXPECT_EQ(asked, 2) << "it could not, so it is asked again";
  can = true;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(other.may_add(50));
  EXPECT_EQ(asked, 3);
  holder.add(10);
  EXPECT_FALSE(other.may_add(50));
  EXPECT_EQ(asked, 4) << "there is more";
}

TEST_F(Unsynced, BytesAreSentToTheDeviceBeforeTheirSync) {
  auto with = options();
  must_open(with);
  const std::string megabyte(1u << 20, 'x');
  for (int i = 0; i < 3; ++i) must_append(batch_of(1, megabyte), false);
  EXPECT_EQ(storage_.writeback_bytes, 0U);
  must_append(batch_of(1, megabyte), false);
  EXPECT_GE(storage_.writeback_bytes, log::kWritebackBytes);
  const std::uint64_t first = storage_.writeback_bytes;
  for (int i = 0; i < 4; ++i) must_append(batch_of(1, megabyte), false);
  EXPECT_EQ(storage_.writeback_bytes, log_->size_bytes() - log::kSegmentPageBytes) << "each byte once";
  // What a sync has covered needs none.
  for (int i = 0; i < 3; ++i) must_append(batch_of(1, megabyte), false);
  ASSERT_TRUE(sync().has_value());
  must_append(batch_of(1, megabyte), false);
  EXPECT_LE(storage_.writeback_bytes, 2 * first + 2000);
}

}  // namespace
}  // namespace sluice::test
