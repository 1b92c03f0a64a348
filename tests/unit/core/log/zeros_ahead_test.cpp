// SPDX-License-Identifier: Apache-2.0
// Zeros ahead of the entries: where they are, where they are not, and that nobody waits for them or falls for them.
#include <algorithm>
#include <filesystem>

#include "core/log/segment_dump.hpp"
#include "core/log/verify.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class ZerosAheadTest : public LogFixture {
 protected:
  log::LogOptions with_zeros(std::uint64_t segment_bytes = 1ULL << 30) {
    auto out = options();
    out.clock = &clock_;
    out.prewrite = budget_;
    out.segment_bytes = segment_bytes;
    return out;
  }
  // Queues an append; its job is run by the test.
  void send(const std::string& text, bool must_sync = true) {
    log_->append(stamped(batch_of(1, text), must_sync),
                 [this](Result<void> result) { outcomes_.emplace_back(result ? "ok" : result.error().code()); });
  }
  [[nodiscard]] std::uint64_t entries_end() const { return log_->size_bytes(); }
  [[nodiscard]] bool is_zero_from(std::uint64_t position, std::uint64_t first_op = 1) {
    const ByteVector& bytes = segment(first_op);
    return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(position), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  }

  std::shared_ptr<log::PrewriteBudget> budget_ = std::make_shared<log::PrewriteBudget>();
  std::vector<std::string> outcomes_;
};
using ZerosAhead = ZerosAheadTest;

TEST_F(ZerosAhead, AreWrittenBesideTheFirstSyncedAppendAndNoOther) {
  must_open(with_zeros());
  must_append(batch_of(1, "a"), false);
  ASSERT_TRUE(sync().has_value());
  EXPECT_EQ(segment().size(), entries_end()) << "entries without a sync have no use for them";
  must_append(batch_of(1, "b"), true);
  EXPECT_GE(segment().size(), entries_end() + log::kPrewriteStepBytes);
  EXPECT_TRUE(is_zero_from(entries_end()));
  EXPECT_EQ(storage_.writeback_bytes, log::kPrewriteStepBytes);
  const std::size_t size = segment().size();
  for (int i = 0; i < 20; ++i) must_append(batch_of(1, "c"), true);
  EXPECT_EQ(segment().size(), size) << "entries fill them";
  EXPECT_TRUE(is_zero_from(entries_end()));
  EXPECT_EQ(payloads(Offset{0}).size(), 22U);
}

TEST_F(ZerosAhead, AreACleanEndForAStartAndForAnInspection) {
  must_open(with_zeros());
  must_append(batch_of(2, "a"), true);
  const std::uint64_t end = entries_end();
  kill();
  ASSERT_GT(segment().size(), end);
  const auto dumped = log::dump_segment(storage_, path_of(Op{1}), [](const log::DumpedEntry&) { return true; });
  ASSERT_TRUE(dumped.has_value());
  EXPECT_EQ(dumped->damage, "");
  EXPECT_EQ(dumped->end, end);
  EXPECT_EQ(dumped->zeros, segment().size() - end);
  const auto verdict = log::verify(storage_, options());
  ASSERT_TRUE(verdict.has_value());
  EXPECT_FALSE(verdict->is_refused());
  for (const bool witnessed : {true, false}) {
    if (!witnessed) witness_.reset();
    must_open(with_zeros());
    EXPECT_FALSE(report_.cut.has_value());
    EXPECT_EQ(segment().size(), end);
    EXPECT_EQ(log_->head().op, Op{1});
    segment().resize(segment().size() + 100'000);
  }
}

TEST_F(ZerosAhead, WithAnythingBehindThemAreDamage) {
  must_open(with_zeros());
  must_append(batch_of(2, "a"), true);
  const std::uint64_t end = entries_end();
  kill();
  segment().back() = std::byte{1};
  const auto dumped = log::dump_segment(storage_, path_of(Op{1}), [](const log::DumpedEntry&) { return true; });
  ASSERT_TRUE(dumped.has_value());
  EXPECT_NE(dumped->damage, "");
  EXPECT_EQ(dumped->zeros, 0U);
  must_open(with_zeros());
  ASSERT_TRUE(report_.cut.has_value());
  EXPECT_EQ(report_.cut->position, end);
}

TEST_F(ZerosAhead, BeforeAWholeEntryAreRefused) {
  must_open(with_zeros());
  must_append(batch_of(2, "a"), true);
  const log::Witness first{log_->acknowledged().op, log_->acknowledged().id, Op{1}};
  must_append(batch_of(2, "b"), true);
  const std::uint64_t second = log::kSegmentPageBytes + (entries_end() - log::kSegmentPageBytes) / 2;
  kill();
  witness_ = first;
  // The second entry a page further on, behind zeros.
  ByteVector entry(segment().begin() + static_cast<std::ptrdiff_t>(second), segment().begin() + static_cast<std::ptrdiff_t>(second + 4096));
  std::fill_n(segment().begin() + static_cast<std::ptrdiff_t>(second), 4096, std::byte{0});
  std::copy(entry.begin(), entry.end(), segment().begin() + static_cast<std::ptrdiff_t>(second + 4096));
  EXPECT_EQ(open_code(), "log.survivor_past_damage");
}

TEST_F(ZerosAhead, AreCutOffBeforeTheNextSegmentAndAtTheEnd) {
  must_open(with_zeros(log::kSegmentPageBytes + 3000));
  while (log_->sealed_segments().empty()) must_append(batch_of(1, "a"), true);
  const auto sealed = log_->sealed_segments().front();
  EXPECT_EQ(segment().size(), sealed.bytes);
  const std::uint64_t active = sealed.last_op.value() + 1;
  must_append(batch_of(1, "b"), true);
  EXPECT_EQ(segment(active).size(), log::kSegmentPageBytes + 3000) << "and the next one has its own, up to its end";
  const std::uint64_t end = entries_end() - sealed.bytes;
  close_log();
  EXPECT_EQ(segment(active).size(), end);
  EXPECT_EQ(budget_->left(), log::kPrewriteNodeBytes);
  const auto verdict = log::verify(storage_, options());
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->changes.size(), 0U);
}

TEST_F(ZerosAhead, OfTwoReplicasLeaveTheSameFiles) {
  MemoryStorage::Files files;
  for (const bool ahead : {true, false}) {
    storage_ = MemoryStorage();
    witness_.reset();
    clock_ = ManualClock();
    auto with = with_zeros(log::kSegmentPageBytes + 3000);
    if (!ahead) with.prewrite = nullptr;
    must_open(with);
    for (int i = 0; i < 30; ++i) must_append(batch_of(1, "a"), true);
    ASSERT_GE(log_->sealed_segments().size(), 2U);
    for (const auto& sealed : log_->sealed_segments()) {
      const std::string path = path_of(sealed.first_op);
      if (ahead) files[path] = std::make_shared<MemoryStorage::Node>(*storage_.files().at(path));
      if (!ahead) {
        EXPECT_EQ(files.at(path)->bytes, storage_.bytes(path)) << path;
      }
    }
    log_.reset();
  }
}

TEST_F(ZerosAhead, HoldUpOnlyAWriteThatWantsTheirPlace) {
  must_open(with_zeros());
  send("a");
  ASSERT_EQ(queue_.size(), 2U) << "a flush, and the zeros";
  queue_.run_one();
  EXPECT_EQ(outcomes_.size(), 1U) << "nobody waits for zeros";
  send(std::string(600, 'b'));
  ASSERT_EQ(queue_.size(), 1U) << "it would be overwritten";
  queue_.run_one();  // the zeros
  ASSERT_EQ(queue_.size(), 1U);
  queue_.run_one();
  EXPECT_EQ(outcomes_.size(), 2U);
  // What goes into zeros that are there waits for none further on.
  for (int i = 0; queue_.size() == 0; ++i) {
    ASSERT_LT(i, 1000);
    send(std::string(1000, 'c'));
    queue_.run_one();
  }
  send("d");
  ASSERT_EQ(queue_.size(), 2U);
  const std::size_t sent = outcomes_.size() + 1;
  queue_.run_all();
  EXPECT_EQ(outcomes_, std::vector<std::string>(sent, "ok"));
  must_open(with_zeros());
  EXPECT_EQ(payloads(Offset{0}).size(), sent);
}

TEST_F(ZerosAhead, AreOutOfTheWayOfARollAndOfTheEnd) {
  must_open(with_zeros(log::kSegmentPageBytes + 3000));
  send("a");
  queue_.run_one();
  send(std::string(2900, 'b'));  // rolls
  ASSERT_EQ(queue_.size(), 1U) << "the roll cuts the file: it waits for the zeros";
  queue_.run_all();
  EXPECT_EQ(segment().size(), log_->sealed_segments().front().bytes);
  kill();
  must_open(with_zeros());
  send("c");
  queue_.run_one();
  bool closed = false;
  log_->close([&](Result<void> result) { closed = result.has_value(); });
  ASSERT_EQ(queue_.size(), 1U);
  queue_.run_one();
  EXPECT_FALSE(closed);
  queue_.run_all();
  EXPECT_TRUE(closed);
  EXPECT_TRUE(is_zero_from(segment().size()));
  EXPECT_EQ(outcomes_, std::vector<std::string>(3, "ok"));
}

TEST_F(ZerosAhead, AreNoMatterIfTheDiskHasNoRoomForThem) {
  auto with = with_zeros();
  int told = 0;
  with.on_full = [&](const Error&) { ++told; };
  must_open(with);
  send("a");
  queue_.run_one();
  storage_.fault = MemoryStorage::Fault{Change::kWrite, 2, ENOSPC};
  queue_.run_one();
  ASSERT_FALSE(storage_.fault) << "the second write of the zeros meets it";
  EXPECT_FALSE(log_->storage_full());
  EXPECT_EQ(told, 0);
  queue_.run_all();
  EXPECT_EQ(segment().size(), entries_end()) << "what was written of them is given back";
  EXPECT_EQ(budget_->left(), log::kPrewriteNodeBytes);
  const std::uint64_t asked = storage_.writeback_bytes;
  for (int i = 0; i < 5; ++i) must_append(batch_of(1, "b"), true);
  EXPECT_EQ(storage_.writeback_bytes, asked) << "and it does not try again in this segment";
  EXPECT_EQ(payloads(Offset{0}).size(), 6U);
  const std::uint64_t end = entries_end();
  close_log();
  EXPECT_EQ(segment().size(), end);
}

TEST_F(ZerosAhead, OfALogThatNobodyWritesToAreGivenBack) {
  for (const bool unsynced_follow : {false, true}) {
    storage_ = MemoryStorage();
    witness_.reset();
    clock_ = ManualClock();
    std::vector<std::move_only_function<void()>> timers;
    auto with = with_zeros();
    with.after = [&](std::chrono::nanoseconds delay, std::move_only_function<void()> task) {
      if (delay == log::kPrewriteIdle) timers.push_back(std::move(task));
    };
    must_open(with);
    must_append(batch_of(1, "a"), true);
    ASSERT_EQ(timers.size(), 1U);
    ASSERT_GT(segment().size(), entries_end());
    timers[0]();
    queue_.run_all();
    EXPECT_GT(segment().size(), entries_end()) << "there was a flush since";
    ASSERT_EQ(timers.size(), 2U);
    // What needs no sync has no use for them.
    if (unsynced_follow) must_append(batch_of(1, "b"), false);
    timers[1]();
    queue_.run_all();
    EXPECT_EQ(segment().size(), entries_end());
    EXPECT_EQ(budget_->left(), log::kPrewriteNodeBytes);
    // One flush now and then does not write a step each time.
    clock_.advance(std::chrono::seconds(60));
    must_append(batch_of(1, "c"), true);
    EXPECT_EQ(segment().size(), entries_end());
    clock_.advance(std::chrono::seconds(1));
    must_append(batch_of(1, "d"), true);
    EXPECT_GT(segment().size(), entries_end());
    must_open(with_zeros());
    EXPECT_EQ(payloads(Offset{0}).size(), unsynced_follow ? 4U : 3U);
  }
}

TEST_F(ZerosAhead, AreGivenBackBehindAWriteThatIsUnderWay) {
  std::vector<std::move_only_function<void()>> timers;
  auto with = with_zeros();
  with.after = [&](std::chrono::nanoseconds delay, std::move_only_function<void()> task) {
    if (delay == log::kPrewriteIdle) timers.push_back(std::move(task));
  };
  must_open(with);
  must_append(batch_of(1, "a"), true);
  timers[0]();
  send("b");
  timers[1]();  // its flush is under way
  queue_.run_all();
  EXPECT_EQ(outcomes_, std::vector<std::string>(1, "ok"));
  EXPECT_EQ(segment().size(), entries_end());
  EXPECT_EQ(payloads(Offset{0}).size(), 2U);
}

TEST_F(ZerosAhead, ThatFailOtherwiseFence) {
  must_open(with_zeros());
  send("a");
  queue_.run_one();
  storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, EIO};
  queue_.run_all();
  ASSERT_TRUE(log_->fenced());
  EXPECT_EQ(append(batch_of(1, "b"), true).error().code(), "log.fenced");
}

}  // namespace
}  // namespace sluice::test
