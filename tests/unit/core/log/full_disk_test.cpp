// SPDX-License-Identifier: Apache-2.0
// A full disk is no fault: what waits is written to the same places once there is room.
#include <algorithm>

#include "core/log/recovery.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class FullDiskTest : public LogFixture {
 protected:
  // An entry that finds no room for its bytes; `outcome` is told what becomes of it.
  void append_without_room(std::string& outcome) {
    storage_.fault = MemoryStorage::Fault{Change::kWrite, 2, ENOSPC};
    log_->append(stamped(batch_of(1, "b"), true), [&](Result<void> result) { outcome = result ? "ok" : result.error().code(); });
    queue_.run_all();
  }
};
using FullDisk = FullDiskTest;

TEST_F(FullDisk, WaitsWhileTheDiskIsFullAndWritesTheSameBytesThen) {
  for (const bool must_sync : {true, false}) {
    for (std::uint64_t nth = 1; nth <= (must_sync ? 3U : 2U); ++nth) {
      storage_ = MemoryStorage();
      witness_.reset();
      auto with = options();
      with.index_stride_bytes = 1;
      must_open(with);
      must_append(batch_of(1, "a"), must_sync);
      std::vector<std::string> codes;
      // The slot, the log or the index; the log alone has half of its bytes.
      storage_.fault = MemoryStorage::Fault{Change::kWrite, nth, ENOSPC};
      for (int i = 0; i < 3; ++i) {
        log_->append(stamped(batch_of(1, "b"), must_sync),
                     [&](Result<void> result) { codes.emplace_back(result ? "ok" : result.error().code()); });
        if (log_->storage_full()) break;
      }
      storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
      queue_.run_all();
      ASSERT_FALSE(log_->fenced()) << log_->fenced()->to_string();
      storage_.fault.reset();
      (void)log_->storage_full();
      queue_.run_all();
      must_append(batch_of(1, "c"), must_sync);
      EXPECT_EQ(std::ranges::count(codes, "ok"), static_cast<std::ptrdiff_t>(codes.size()));
      const Op head = log_->head().op;
      EXPECT_EQ(log_->acknowledged_op(), head);
      must_open(with);
      EXPECT_EQ(log_->head().op, head);
      EXPECT_EQ(report_.indexes_rebuilt + report_.index_entries_added, 0U);
    }
  }
}

TEST_F(FullDisk, TakesNoEntryWhileTheDiskIsFull) {
  auto with = options();
  std::vector<std::move_only_function<void()>> timers;
  with.after = [&](std::chrono::nanoseconds, std::move_only_function<void()> task) { timers.push_back(std::move(task)); };
  std::vector<std::string> told;
  with.on_full = [&](const Error& error) { told.emplace_back(error.code()); };
  must_open(with);
  must_append(batch_of(1, "a"), true);
  EXPECT_EQ(told.size(), 0U);
  std::string waiting;
  append_without_room(waiting);
  EXPECT_EQ(waiting, "");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(append(batch_of(1, "c"), true).error().code(), "log.storage_full");
  EXPECT_EQ(told, (std::vector<std::string>{"log.storage_full"})) << "once, however often it is tried";
  EXPECT_EQ(waiting, "");
  ASSERT_EQ(timers.size(), 1U);
  storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
  timers[0]();
  queue_.run_all();
  EXPECT_EQ(waiting, "");
  ASSERT_EQ(timers.size(), 2U) << "one timer at a time, however many calls were refused";
  timers[1]();
  queue_.run_all();
  EXPECT_EQ(waiting, "ok");
  EXPECT_EQ(told.size(), 1U);
  must_append(batch_of(1, "d"), true);
  EXPECT_EQ(payloads(Offset{0}), (std::vector<std::string>{"a0", "b0", "d0"}));
}

TEST_F(FullDisk, IsNotTriedAgainWhileTheRoomIsForOthers) {
  auto with = options();
  std::vector<std::move_only_function<void()>> timers;
  with.after = [&](std::chrono::nanoseconds, std::move_only_function<void()> task) { timers.push_back(std::move(task)); };
  bool may_retry = false;
  with.may_retry = [&] { return may_retry; };
  must_open(with);
  must_append(batch_of(1, "a"), true);
  std::string waiting;
  append_without_room(waiting);
  ASSERT_EQ(timers.size(), 1U);
  timers[0]();
  queue_.run_all();
  EXPECT_EQ(waiting, "");
  ASSERT_EQ(timers.size(), 2U);
  may_retry = true;
  timers[1]();
  queue_.run_all();
  EXPECT_EQ(waiting, "ok");
}

TEST_F(FullDisk, EndsWithAnErrorIfTheDiskIsStillFullWhenItCloses) {
  must_open();
  must_append(batch_of(1, "a"), true);
  std::string waiting;
  append_without_room(waiting);
  storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
  std::string closed;
  log_->close([&](Result<void> result) { closed = result ? "ok" : result.error().code(); });
  queue_.run_all();
  EXPECT_EQ(closed, "log.storage_full");
  EXPECT_EQ(waiting, "log.storage_full");
  must_open();
  EXPECT_EQ(payloads(Offset{0}), std::vector<std::string>{"a0"});
}

// Acknowledged without a sync, and then no room for what follows.
TEST_F(FullDisk, EndsOnlyAfterASyncOfWhatItAcknowledged) {
  for (const bool slot_has_room : {true, false}) {
    storage_ = MemoryStorage();
    witness_.reset();
    must_open();
    must_append(batch_of(1, "a"), false);
    std::string waiting;
    storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
    log_->append(stamped(batch_of(1, "b"), false), [&](Result<void> result) { waiting = result ? "ok" : result.error().code(); });
    ASSERT_GT(log_->unsynced_bytes(), 0U);
    const std::uint64_t syncs = storage_.syncs;
    storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
    std::string closed;
    log_->close([&](Result<void> result) { closed = result ? "ok" : result.error().code(); });
    if (!slot_has_room) storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
    queue_.run_all();
    const char* const outcome = slot_has_room ? "log.storage_full" : "log.fenced";
    EXPECT_EQ(closed, outcome);
    EXPECT_EQ(waiting, outcome);
    EXPECT_EQ(storage_.exists(kDirectory + "/fenced"), !slot_has_room);
    if (slot_has_room) {
      EXPECT_EQ(storage_.syncs, syncs + 1);
    }
    must_open();
    EXPECT_EQ(payloads(Offset{0}), std::vector<std::string>{"a0"});
  }
}

TEST_F(FullDisk, HasNoRoomForTheCleanEndAndIsNoFaultThen) {
  must_open();
  must_append(batch_of(1, "a"), true);
  storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
  std::string closed;
  log_->close([&](Result<void> result) { closed = result ? "ok" : result.error().code(); });
  queue_.run_all();
  EXPECT_EQ(closed, "log.storage_full");
  EXPECT_FALSE(storage_.exists(kDirectory + "/fenced"));
  must_open();
  EXPECT_EQ(payloads(Offset{0}), std::vector<std::string>{"a0"});
}

TEST_F(FullDisk, WritesWhatWaitsIfThereIsRoomWhenItMayWaitNoLonger) {
  must_open();
  must_append(batch_of(1, "a"), true);
  std::string waiting;
  append_without_room(waiting);
  EXPECT_EQ(waiting, "");
  log_->stop_waiting_for_room();
  queue_.run_all();
  EXPECT_EQ(waiting, "ok");
  must_append(batch_of(1, "c"), true);
  storage_.fault = MemoryStorage::Fault{Change::kWrite, 2, ENOSPC};
  EXPECT_EQ(append(batch_of(1, "d"), true).error().code(), "log.storage_full");
}

}  // namespace
}  // namespace sluice::test
