// SPDX-License-Identifier: Apache-2.0
// What the frontier lets recovery say, on a machine that can lose power.
#include <algorithm>

#include "core/base/checksum.hpp"
#include "core/log/recovery.hpp"
#include "tests/simulation/storage/sim_io_queue.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class FrontierTest : public ::testing::Test {
 protected:
  FrontierTest() { EXPECT_TRUE(machine_.process().make_directories("/data").has_value()); }

  std::string open_code(std::optional<log::Witness> witness = std::nullopt) {
    log_.reset();
    queue_.drop();
    log::LogOptions with;
    with.directory = kDirectory;
    with.group = GroupId{7};
    with.incarnation = Incarnation{3};
    with.segment_bytes = segment_bytes_;
    with.witness = witness;
    auto opened = log::EntryLog::open(machine_.process(), queue_, std::move(with));
    if (!opened) return std::string(opened.error().code());
    log_ = std::move(opened->log);
    report_ = std::move(opened->report);
    return "opened";
  }
  bool append(entry::EntryDraft draft, bool must_sync) {
    const entry::EntryStamp stamp = log_->next_stamp(draft, TimestampUs{1'700'000'000'000'000}, must_sync);
    auto outcome = std::make_shared<std::string>("none");
    log_->append(std::move(draft).stamp(stamp), [outcome](Result<void> result) { *outcome = result ? "ok" : result.error().to_string(); });
    queue_.run_until_idle();
    return *outcome == "ok";
  }
  void fill(int count, bool must_sync) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(append(filler(), must_sync));
  }
  void sync() {
    auto done = std::make_shared<bool>(false);
    log_->sync([done](Result<void> result) { *done = result.has_value(); });
    queue_.run_until_idle();
    ASSERT_TRUE(*done);
  }
  void close_log() {
    auto done = std::make_shared<bool>(false);
    log_->close([done](Result<void> result) { *done = result.has_value(); });
    queue_.run_until_idle();
    ASSERT_TRUE(*done);
    log_.reset();
  }
  void lose_power(sim::PowerLoss reached, std::uint64_t seed = 0) {
    log_.reset();
    queue_.drop();
    machine_.power_loss(reached, seed);
  }
  log::Witness witness() const { return {log_->acknowledged().op, log_->acknowledged().id, log_->acknowledged_op()}; }
  log::SegmentSlots newest_slots() const {
    const ByteVector bytes = *machine_.buffered(segment());
    return *log::read_slots(Bytes(bytes).first(log::kSegmentPageBytes), Op{1});
  }
  static std::string segment(std::uint64_t first_op = 1) { return kDirectory + "/" + log::segment_name(Op{first_op}); }
  static std::string index(std::uint64_t first_op = 1) { return kDirectory + "/" + log::index_name(Op{first_op}); }

  sim::SimStorage machine_;
  sim::SimIoQueue queue_{machine_, 1};
  std::uint64_t segment_bytes_ = 1u << 30;
  std::unique_ptr<log::EntryLog> log_;
  log::RecoveryReport report_;
};
using FrontierRules = FrontierTest;

TEST_F(FrontierRules, RefuseDamageBelowWhatWasDurable) {
  ASSERT_EQ(open_code(), "opened");
  fill(5, true);  // the slot of the fifth flush says that four are durable
  lose_power(sim::PowerLoss::kEverything);
  const sim::FileTree whole = machine_.snapshot();
  machine_.flip_bit(segment(), position_of(1) + 20);
  EXPECT_EQ(open_code(), "log.survivor_past_damage");
  // The end of the file is gone, down to the last durable byte but one.
  machine_.restore(whole);
  machine_.truncate_stable(segment(), position_of(4) - 1);
  lose_power(sim::PowerLoss::kNothing);
  EXPECT_EQ(open_code(), "log.fsynced_log_loss");
  EXPECT_EQ(open_code(), "log.fsynced_log_loss") << "the marker";
  machine_.restore(whole);
  machine_.truncate_stable(segment(), position_of(4) - 1);
  lose_power(sim::PowerLoss::kNothing);
  machine_.flip_bit(index(), 8);
  EXPECT_EQ(open_code(), "log.fsynced_rebuild_shortfall");
  machine_.restore(whole);
  machine_.truncate_stable(segment(), position_of(4));
  lose_power(sim::PowerLoss::kNothing);
  EXPECT_EQ(open_code(), "opened");
  EXPECT_EQ(log_->head().op, Op{4});
}

// Whole entries that follow each other, under a header page whose slot has seen others.
TEST_F(FrontierRules, RefuseOtherEntriesThanTheFrontierNames) {
  ASSERT_EQ(open_code(), "opened");
  fill(3, true);
  lose_power(sim::PowerLoss::kEverything);
  ByteVector page(log::kSegmentPageBytes);
  ASSERT_TRUE((*machine_.process().open(segment(), storage::OpenMode::kRead))->read(0, page).has_value());
  ASSERT_TRUE(machine_.process().remove(segment()).has_value());
  ASSERT_TRUE(machine_.process().remove(index()).has_value());
  ASSERT_EQ(open_code(), "opened");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append(batch_of(2, "y"), true));
  lose_power(sim::PowerLoss::kEverything);
  ASSERT_TRUE((*machine_.process().open(segment(), storage::OpenMode::kReadWrite))->write(0, page).has_value());
  EXPECT_EQ(open_code(), "log.fsynced_log_loss");
}

TEST_F(FrontierRules, CutDamageAboveItAfterThePowerFailed) {
  ASSERT_EQ(open_code(), "opened");
  fill(2, false);
  sync();
  fill(4, false);
  sync();  // its slot says that two are durable
  fill(2, false);
  lose_power(sim::PowerLoss::kEverything);
  machine_.flip_bit(segment(), position_of(3) + 100);
  ASSERT_EQ(open_code(), "opened");
  ASSERT_TRUE(report_.cut.has_value());
  EXPECT_EQ(report_.cut->position, position_of(3));
  EXPECT_EQ(report_.cut->bytes, position_of(8) - position_of(3));
  EXPECT_EQ(machine_.stable(report_.cut->set_aside)->size(), report_.cut->bytes);
  EXPECT_EQ(log_->head().op, Op{3});
  EXPECT_FALSE(report_.trusted);
  EXPECT_EQ(report_.mint_from, Offset{log::kLimitBlock});
  // No entry but the gap is taken, and what follows it is behind everything that may have been given out.
  EXPECT_FALSE(append(batch_of(1, "y"), true));
  EXPECT_FALSE(append(entry::EntryDraft::gap(Offset{log::kLimitBlock - 1}), true));
  EXPECT_TRUE(append(entry::EntryDraft::gap(Offset{log::kLimitBlock}), true));
  fill(1, true);
  EXPECT_EQ(log_->head().next_offset, Offset{log::kLimitBlock + 2});
}

TEST_F(FrontierRules, KeepTheDoubtUntilTheGapIsThere) {
  ASSERT_EQ(open_code(), "opened");
  fill(3, true);
  lose_power(sim::PowerLoss::kNothing);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(open_code(), "opened");
    EXPECT_EQ(log_->mint_from(), Offset{log::kLimitBlock}) << i;
    if (i == 1) close_log();
    lose_power(sim::PowerLoss::kNothing);
  }
  ASSERT_EQ(open_code(), "opened");
  ASSERT_TRUE(append(entry::EntryDraft::gap(*log_->mint_from()), true));
  EXPECT_FALSE(log_->mint_from().has_value());
  close_log();
  ASSERT_EQ(open_code(), "opened");
  EXPECT_TRUE(report_.clean);
  EXPECT_FALSE(log_->mint_from().has_value());
}

TEST_F(FrontierRules, DoubtNothingAfterACleanStop) {
  for (const bool must_sync : {true, false}) {
    ASSERT_EQ(open_code(), "opened");
    EXPECT_TRUE(report_.clean);
    fill(3, must_sync);
    close_log();
    lose_power(sim::PowerLoss::kNothing);
  }
  ASSERT_EQ(open_code(), "opened");
  EXPECT_EQ(log_->head().op, Op{6});
  EXPECT_FALSE(report_.mint_from.has_value());
  EXPECT_EQ(report_.doubtful_to, Op{6});
}

TEST_F(FrontierRules, TrustALogThatHoldsTheWitness) {
  ASSERT_EQ(open_code(), "opened");
  fill(4, false);
  const log::Witness fourth = witness();
  fill(2, false);
  const log::Witness sixth = witness();
  log_.reset();
  queue_.drop();
  machine_.process_crash();
  const sim::FileTree killed = machine_.snapshot();
  for (const log::Witness& given : {fourth, sixth}) {
    machine_.restore(killed);
    ASSERT_EQ(open_code(given), "opened");
    EXPECT_TRUE(report_.trusted);
    EXPECT_FALSE(report_.mint_from.has_value());
    EXPECT_EQ(report_.doubtful_to, Op{6});
  }
  // Another entry than the witness names, or none.
  log::Witness other = sixth;
  other.id.low ^= 1;
  machine_.restore(killed);
  ASSERT_EQ(open_code(other), "opened");
  EXPECT_FALSE(report_.trusted);
  EXPECT_TRUE(report_.mint_from.has_value());
  other = sixth;
  other.op = Op{7};
  machine_.restore(killed);
  ASSERT_EQ(open_code(other), "opened");
  EXPECT_FALSE(report_.trusted);
  // Only the process died, so a whole entry behind damage is no tear.
  machine_.restore(killed);
  machine_.flip_bit(segment(), position_of(4) + 100);
  EXPECT_EQ(open_code(fourth), "log.survivor_past_damage");
  machine_.restore(killed);
  machine_.flip_bit(segment(), position_of(5) + 100);
  EXPECT_EQ(open_code(fourth), "opened");
  EXPECT_TRUE(report_.cut.has_value());
}

// The newest slot rots: what it had reserved is not known any more, and nothing of it may be given out again.
TEST_F(FrontierRules, ALostSlotCountsAsTheLargestReservation) {
  ASSERT_EQ(open_code(), "opened");
  fill(2, true);
  ASSERT_TRUE(append(batch_of(65'534, "x"), true));
  const log::SegmentSlots slots = newest_slots();
  const Offset lost_limit = slots.newest->limit.offset;
  ASSERT_GT(lost_limit, Offset{log::kLimitBlock});
  lose_power(sim::PowerLoss::kEverything);
  machine_.flip_bit(segment(), log::frontier_position(slots.slot) + 50);
  machine_.truncate_stable(segment(), position_of(2));
  lose_power(sim::PowerLoss::kNothing);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(open_code(), "opened");
    EXPECT_EQ(report_.slot_lost, i == 0) << "it is written anew";
    EXPECT_EQ(log_->head().op, Op{2});
    EXPECT_FALSE(report_.clean);
    ASSERT_TRUE(log_->mint_from().has_value());
    EXPECT_GE(*log_->mint_from(), lost_limit);
    lose_power(sim::PowerLoss::kNothing);
  }
}

TEST_F(FrontierRules, ALogThatGoesOnAboveALostSlotIsNotRefusedAfterTheNextRoll) {
  ASSERT_EQ(open_code(), "opened");
  fill(2, true);
  ASSERT_TRUE(append(batch_of(65'534, "x"), true));
  const log::Witness third = witness();
  const log::SegmentSlots slots = newest_slots();
  lose_power(sim::PowerLoss::kEverything);
  machine_.flip_bit(segment(), log::frontier_position(slots.slot) + 50);
  segment_bytes_ = 6000;
  ASSERT_EQ(open_code(third), "opened");
  EXPECT_TRUE(report_.trusted);
  fill(1, true);
  ASSERT_EQ(log_->sealed_segments().size(), 1U);
  const log::Witness fourth = witness();
  lose_power(sim::PowerLoss::kNothing);
  ASSERT_EQ(open_code(fourth), "opened");
  EXPECT_EQ(log_->head().op, Op{4});
  EXPECT_FALSE(log_->mint_from().has_value());
}

// Linux forgets a sync that failed: the bytes can be read, and no later sync writes them.
TEST_F(FrontierRules, WriteAgainWhatAFailedSyncMayHaveDropped) {
  for (const bool must_sync : {true, false}) {
    for (const bool with_witness : {true, false}) {
      machine_.restore(sim::SimStorage().snapshot());
      ASSERT_TRUE(machine_.process().make_directories("/data").has_value());
      ASSERT_EQ(open_code(), "opened");
      fill(3, must_sync);
      const log::Witness third = witness();
      machine_.plan().add({.at = 1,
                           .kind = sim::OperationKind::kSync,
                           .path_part = ".log",
                           .point = sim::FaultPoint::kBefore,
                           .effect = sim::FaultEffect::kError});
      append(filler(), must_sync);
      log_->sync([](Result<void>) {});
      queue_.run_until_idle();
      ASSERT_TRUE(log_->fenced().has_value());
      log_.reset();
      queue_.drop();
      machine_.process_crash();
      ASSERT_EQ(open_code(with_witness ? std::optional(third) : std::nullopt), "opened");
      EXPECT_TRUE(report_.fence_mark.has_value());
      ASSERT_EQ(log_->head().op, Op{4});
      machine_.evict_clean_pages(segment());
      lose_power(sim::PowerLoss::kNothing);
      ASSERT_EQ(open_code(), "opened");
      EXPECT_EQ(log_->head().op, Op{4}) << "it counted as acknowledged";
      EXPECT_FALSE(report_.fence_mark.has_value());
    }
  }
}

// A sync of the same file through a descriptor that was opened later succeeds, and proves nothing.
TEST_F(FrontierRules, StayFencedWhenAFreshDescriptorSyncs) {
  for (const bool must_sync : {true, false}) {
    machine_.restore(sim::SimStorage().snapshot());
    ASSERT_TRUE(machine_.process().make_directories("/data").has_value());
    ASSERT_EQ(open_code(), "opened");
    fill(3, must_sync);
    if (must_sync) {
      machine_.plan().add(
          {.kind = sim::OperationKind::kSync, .path_part = ".log", .point = sim::FaultPoint::kBefore, .effect = sim::FaultEffect::kError});
      EXPECT_FALSE(append(filler(), true));
    } else {
      machine_.fail_writeback(segment());
      EXPECT_TRUE(append(filler(), false)) << "nobody knows of it yet";
      log_->sync([](Result<void> outcome) { EXPECT_FALSE(outcome.has_value()); });
      queue_.run_until_idle();
    }
    ASSERT_TRUE(log_->fenced().has_value());
    const std::uint64_t operations = machine_.plan().operations();
    ASSERT_TRUE((*machine_.process().open(segment(), storage::OpenMode::kReadWrite))->sync().has_value());
    EXPECT_FALSE(append(filler(), must_sync));
    log_->sync([](Result<void> outcome) { EXPECT_FALSE(outcome.has_value()); });
    queue_.run_until_idle();
    EXPECT_TRUE(log_->fenced().has_value());
    EXPECT_EQ(machine_.plan().operations(), operations + 2) << "the open and the sync above, and nothing of the log's";
  }
}

// A name that only the cache knew is made durable by the next start.
TEST_F(FrontierRules, SyncTheDirectoryAtEveryStart) {
  ASSERT_EQ(open_code(), "opened");
  segment_bytes_ = 6000;
  ASSERT_EQ(open_code(), "opened");
  fill(6, true);
  machine_.plan().restart();
  machine_.plan().add({.at = 1, .kind = sim::OperationKind::kSyncDirectory});
  append(filler(), true);
  log_.reset();
  queue_.drop();
  ASSERT_TRUE(machine_.crashed());
  machine_.process_crash();
  ASSERT_EQ(open_code(), "opened");
  if (log_->mint_from()) {
    ASSERT_TRUE(append(entry::EntryDraft::gap(*log_->mint_from()), true));
  }
  fill(2, true);
  const Op head = log_->head().op;
  lose_power(sim::PowerLoss::kNothing);
  ASSERT_EQ(open_code(), "opened");
  EXPECT_EQ(log_->head().op, head);
}

TEST_F(FrontierRules, SealCompleteSegmentsWithTheSameBytesHoweverTheyCameToBe) {
  segment_bytes_ = 6000;
  ASSERT_EQ(open_code(), "opened");
  fill(20, true);
  const ByteVector at_once = *machine_.buffered(segment());
  const auto slots = log::read_slots(Bytes(at_once).first(log::kSegmentPageBytes), Op{1});
  ASSERT_TRUE(slots.has_value());
  EXPECT_TRUE(slots->both_sealed);
  EXPECT_EQ(slots->newest->durable.position, at_once.size());
  log_.reset();
  queue_.drop();
  machine_.restore(sim::SimStorage().snapshot());
  ASSERT_TRUE(machine_.process().make_directories("/data").has_value());
  std::optional<log::Witness> seen;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(open_code(seen), "opened");
    fill(1, true);
    seen = witness();
  }
  EXPECT_EQ(*machine_.buffered(segment()), at_once);
  // A complete last segment had a successor.
  const auto sealed = log_->sealed_segments();
  close_log();
  ASSERT_TRUE(machine_.process().remove(segment(sealed.back().last_op.value() + 1)).has_value());
  EXPECT_EQ(open_code(), "log.hole");
}

TEST_F(FrontierRules, CutWhatLiesBeyondTheLimit) {
  ASSERT_EQ(open_code(), "opened");
  fill(3, true);
  close_log();
  ASSERT_EQ(open_code(), "opened");
  // The flush is torn in two: its entry reaches the device, its slot does not, so nobody has heard of it.
  machine_.plan().restart();
  machine_.plan().add({.at = 1, .kind = sim::OperationKind::kSync, .path_part = ".log"});
  append(filler(), true);
  const ByteVector before = *machine_.stable(segment());
  lose_power(sim::PowerLoss::kEverything);
  const auto file = machine_.process().open(segment(), storage::OpenMode::kReadWrite);
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE((*file)->write(0, Bytes(before).first(log::kSegmentPageBytes)).has_value());
  ASSERT_EQ(open_code(), "opened");
  EXPECT_EQ(log_->head().op, Op{3});
  ASSERT_TRUE(report_.cut.has_value());
  EXPECT_EQ(report_.cut->position, position_of(3));
  EXPECT_TRUE(report_.clean);
}

TEST_F(FrontierRules, NeverRecordARefusalOfAFormatThatTheyDoNotKnow) {
  ASSERT_EQ(open_code(), "opened");
  fill(1, true);
  close_log();
  for (const std::uint64_t version : {1, 3}) {
    const auto file = machine_.process().open(segment(), storage::OpenMode::kReadWrite);
    ByteVector page = *machine_.buffered(segment());
    page[8] = static_cast<std::byte>(version);
    const U128 checksum = xxh3_128(Bytes(page).first(496));
    store_le(page.data() + 496, checksum.low);
    store_le(page.data() + 504, checksum.high);
    ASSERT_TRUE((*file)->write(0, Bytes(page).first(512)).has_value());
    EXPECT_EQ(open_code(), version == 1 ? "log.older_format" : "log.newer_format");
    EXPECT_FALSE(machine_.buffered(kDirectory + "/" + log::kRefusedName).has_value());
  }
}

}  // namespace
}  // namespace sluice::test
