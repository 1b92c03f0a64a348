// SPDX-License-Identifier: Apache-2.0
#include "core/log/repair.hpp"

#include <gmock/gmock.h>

#include "core/log/frontier_writer.hpp"
#include "core/log/recovery.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class Repair : public LogFixture {
 protected:
  void fill(int count) { LogFixture::fill(count, true); }
  void damage(std::uint64_t first_op, std::uint64_t position) { segment(first_op)[position] ^= std::byte{1}; }

  Result<log::RepairPlan> plan() {
    kill();
    const MemoryStorage::Files before = storage_.snapshot();
    auto with = options();
    with.witness = witness_;
    auto out = log::plan_repair(storage_, with);
    EXPECT_EQ(before.size(), storage_.files().size()) << "planning changed something";
    for (const auto& [path, node] : before) EXPECT_EQ(storage_.changes_of(path), node->changes) << path;
    return out;
  }
  // Every byte that was in the directory is still in some file of it.
  void expect_nothing_lost(const MemoryStorage::Files& before) {
    for (const auto& [path, node] : before) {
      if (path.ends_with(".index")) continue;
      bool found = false;
      for (const auto& [now, file] : storage_.files()) found = found || file->bytes == node->bytes;
      if (found) continue;
      // Cut: what is left, and the rest beside it. The slots of the frontier are all that was written over.
      const ByteVector& kept = storage_.bytes(path);
      ByteVector whole = kept;
      for (int i = 1; storage_.exists(path + ".cut-" + std::to_string(i)); ++i) {
        const ByteVector& rest = storage_.bytes(path + ".cut-" + std::to_string(i));
        if (kept.size() + rest.size() != node->bytes.size()) continue;
        whole.insert(whole.end(), rest.begin(), rest.end());
      }
      ASSERT_EQ(whole.size(), node->bytes.size()) << path;
      EXPECT_TRUE(std::equal(whole.begin() + 1536, whole.end(), node->bytes.begin() + 1536)) << path;
    }
  }
  // Refuses, is repaired, and serves what is left, without ever giving an offset below `limit` to another record.
  void expect_repair(const std::string& code, Op head, Offset limit) {
    kill();
    EXPECT_EQ(open_code(), code);
    const MemoryStorage::Files before = storage_.snapshot();
    auto planned = plan();
    ASSERT_TRUE(planned.has_value()) << planned.error().to_string();
    ASSERT_TRUE(planned->refusal.has_value());
    EXPECT_EQ(planned->refusal->code(), code);
    EXPECT_EQ(planned->head.op, head);
    const auto done = log::carry_out(storage_, options(), *planned);
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
    EXPECT_FALSE(storage_.exists(kDirectory + "/" + log::kRefusedName));
    EXPECT_TRUE(storage_.exists(kDirectory + "/" + log::kRefusedName + ".cut-1"));
    expect_nothing_lost(before);
    auto with = options();
    with.must_exist = true;
    must_open(with);
    EXPECT_EQ(log_->head().op, head);
    if (log_->head().next_offset < limit) {
      ASSERT_TRUE(log_->mint_from().has_value());
      EXPECT_GE(*log_->mint_from(), limit);
    }
    fill(1);
    must_open(with);
    EXPECT_GT(log_->head().next_offset, limit);
    const auto again = plan();
    ASSERT_TRUE(again.has_value());
    EXPECT_FALSE(again->refusal.has_value()) << "nothing is left to do";
    must_open(with);
  }
};

TEST_F(Repair, HasNothingToDoForASoundLog) {
  must_open();
  fill(3);
  const auto planned = plan();
  ASSERT_TRUE(planned.has_value());
  EXPECT_FALSE(planned->refusal.has_value());
  EXPECT_THAT(planned->steps, ::testing::IsEmpty());
}

TEST_F(Repair, CutsTheLastSegmentAtTheDamage) {
  must_open();
  fill(5);
  damage(1, position_of(2) + 100);
  expect_repair("log.survivor_past_damage", Op{2}, Offset{log::kLimitBlock});
  EXPECT_EQ(payloads(Offset{0}).size(), 6U) << "two before the damage and one new";
  EXPECT_EQ(storage_.bytes(path_of(Op{1}) + ".cut-1").size(), 3 * kFilledBytes);
  EXPECT_THAT(std::string(as_text(storage_.bytes(kDirectory + "/repairs"))), HasSubstr("log.survivor_past_damage"));
}

TEST_F(Repair, SetsAsideEverythingBehindADamagedSegment) {
  must_open(small());
  fill(30);
  ASSERT_TRUE(storage_.exists(path_of(Op{19})));
  damage(7, position_of(2) + 100);
  expect_repair("log.damaged_segment", Op{8}, Offset{log::kLimitBlock});
  for (const std::uint64_t op : {13, 19, 25}) {
    EXPECT_FALSE(storage_.exists(path_of(Op{op}))) << op;
    EXPECT_TRUE(storage_.exists(path_of(Op{op}) + ".cut-1")) << op;
  }
}

TEST_F(Repair, GoesOnBeforeASegmentThatIsMissingOrHasNoPage) {
  for (const bool missing : {true, false}) {
    storage_.restore({});
    witness_.reset();
    must_open(small());
    fill(20);
    kill();
    if (missing) storage_.erase(path_of(Op{7}));
    if (!missing) damage(7, 3);
    expect_repair(missing ? "log.hole" : "log.damaged_segment", Op{6}, Offset{log::kLimitBlock});
  }
}

TEST_F(Repair, KeepsTheStateOfTheCheckpointIfTheLogDoesNotReachBackToTheBeginning) {
  must_open(small());
  fill(20);
  ASSERT_TRUE(checkpoint("state").has_value());
  ASSERT_TRUE(drop_before(Offset{20}).has_value());
  const Op checkpoint_op = log_->head().op;
  const Op first = log_->first_op();
  ASSERT_GT(first, Op{1});
  fill(2);
  kill();
  damage(first.value(), position_of(1) + 100);
  expect_repair("log.damaged_segment", checkpoint_op, Offset{log::kLimitBlock});
  ASSERT_TRUE(checkpoint_.has_value());
  EXPECT_EQ(checkpoint_->op, checkpoint_op);
}

TEST_F(Repair, ReadsTheLogFromItsBeginningIfTheCheckpointIsLostOrBehindTheDamage) {
  for (const bool damaged_checkpoint : {true, false}) {
    storage_.restore({});
    witness_.reset();
    must_open();
    fill(4);
    ASSERT_TRUE(checkpoint("state").has_value());
    fill(2);
    kill();
    if (damaged_checkpoint) storage_.bytes(kDirectory + "/checkpoint")[90] ^= std::byte{1};
    if (!damaged_checkpoint) damage(1, position_of(2) + 100);
    expect_repair(damaged_checkpoint ? "log.damaged_checkpoint" : "log.survivor_past_damage", damaged_checkpoint ? Op{6} : Op{2},
                  damaged_checkpoint ? Offset{12} : Offset{log::kLimitBlock});
    EXPECT_FALSE(checkpoint_.has_value());
    EXPECT_TRUE(storage_.exists(kDirectory + "/checkpoint.cut-1"));
  }
}

// Nothing says any more what was acknowledged: no more than the file and one reservation can hold.
TEST_F(Repair, BoundsWhatBothSlotsHadReserved) {
  must_open();
  fill(3);
  must_append(batch_of(70'000, "x"), true);
  kill();
  const Offset limit = log::read_slots(Bytes(segment()).first(log::kSegmentPageBytes), Op{1})->newest->limit.offset;
  damage(1, log::frontier_position(0) + 50);
  damage(1, log::frontier_position(1) + 50);
  witness_.reset();
  expect_repair("log.damaged_segment", Op{4}, limit);
}

TEST_F(Repair, BeginsAnewIfNothingIsLeftOfTheOnlySegment) {
  must_open();
  fill(3);
  kill();
  damage(1, 3);
  expect_repair("log.damaged_segment", Op{0}, Offset{log::kLimitBlock});
  EXPECT_EQ(payloads(log_->first_offset()).size(), 2U);
}

TEST_F(Repair, RefusesWhereItCannotKnowWhichOffsetsWereGivenOut) {
  must_open(small());
  fill(20);
  close_log();
  storage_.erase(path_of(Op{19}));
  EXPECT_EQ(open_code(), "log.hole");
  auto planned = plan();
  ASSERT_FALSE(planned.has_value());
  EXPECT_TRUE(planned.error().is(log::Errc::kNotRepairable)) << planned.error().to_string();
  storage_.restore({});
  auto with = options();
  with.must_exist = true;
  planned = log::plan_repair(storage_, with);
  ASSERT_FALSE(planned.has_value());
  EXPECT_TRUE(planned.error().is(log::Errc::kNotRepairable)) << planned.error().to_string();
}

TEST_F(Repair, RemovesOnlyTheMarkerOfFilesThatWereRepairedByOtherMeans) {
  must_open();
  fill(3);
  close_log();
  damage(1, position_of(1) + 100);
  EXPECT_EQ(open_code(), "log.survivor_past_damage");
  damage(1, position_of(1) + 100);
  const ByteVector before = segment();
  auto planned = plan();
  ASSERT_TRUE(planned.has_value());
  ASSERT_TRUE(log::carry_out(storage_, options(), *planned).has_value());
  EXPECT_EQ(segment(), before);
  must_open();
  EXPECT_TRUE(report_.clean);
}

// Interrupted after any number of changes, it is planned and carried out again, and loses neither bytes nor the limit.
TEST_F(Repair, MayBeInterruptedAnywhere) {
  for (const bool fresh : {false, true}) {
    storage_.restore({});
    witness_.reset();
    must_open(small());
    fill(20);
    kill();
    damage(fresh ? 1 : 7, fresh ? 3 : position_of(2) + 100);
    EXPECT_EQ(open_code(), "log.damaged_segment");
    const MemoryStorage::Files refused = storage_.snapshot();
    for (int n = 1;; ++n) {
      kill();
      witness_.reset();
      storage_.restore(refused);
      storage_.die_at = storage_.changes + static_cast<std::uint64_t>(n);
      auto planned = plan();
      ASSERT_TRUE(planned.has_value()) << planned.error().to_string();
      const bool done = log::carry_out(storage_, options(), *planned).has_value();
      storage_.revive();
      if (storage_.exists(kDirectory + "/" + log::kRefusedName)) {
        EXPECT_FALSE(done);
        EXPECT_EQ(open_code(), "log.damaged_segment") << n;
        planned = plan();
        ASSERT_TRUE(planned.has_value()) << n << " " << planned.error().to_string();
        ASSERT_TRUE(log::carry_out(storage_, options(), *planned).has_value()) << n;
      }
      must_open();
      EXPECT_EQ(log_->head().op, fresh ? Op{0} : Op{8}) << n;
      ASSERT_TRUE(log_->mint_from().has_value()) << n;
      EXPECT_GE(*log_->mint_from(), Offset{log::kLimitBlock}) << n;
      expect_nothing_lost(refused);
      if (done) {
        EXPECT_GT(n, 8);
        break;
      }
    }
  }
}

}  // namespace
}  // namespace sluice::test
