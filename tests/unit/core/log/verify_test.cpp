// SPDX-License-Identifier: Apache-2.0
#include "core/log/verify.hpp"

#include <gmock/gmock.h>

#include "core/log/recovery.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class Verify : public LogFixture {
 protected:
  log::Verdict verdict(std::optional<log::Witness> witness = std::nullopt) {
    auto with = options();
    with.witness = witness;
    return verdict_with(with);
  }
  log::Verdict verdict_with(const log::LogOptions& with) {
    kill();
    const MemoryStorage::Files before = storage_.snapshot();
    auto out = log::verify(storage_, with);
    EXPECT_TRUE(out.has_value());
    EXPECT_EQ(before.size(), storage_.files().size()) << "verify changed something";
    for (const auto& [path, node] : before) EXPECT_EQ(storage_.changes_of(path), node->changes) << path;
    return *std::move(out);
  }
};

TEST_F(Verify, OfAClosedLogHasNothingToDo) {
  must_open();
  must_append(batch_of(2, "a"), true);
  must_append(batch_of(3, "b"), true);
  const log::LogHead head = log_->head();
  close_log();
  const log::Verdict found = verdict();
  EXPECT_FALSE(found.is_refused());
  EXPECT_TRUE(found.clean);
  EXPECT_THAT(found.changes, ::testing::IsEmpty());
  EXPECT_EQ(found.entries, 2U);
  EXPECT_EQ(found.head.op, head.op);
  EXPECT_EQ(found.head.next_offset, Offset(5));
  EXPECT_FALSE(found.mint_from);
}

TEST_F(Verify, SaysWhatWouldBeCutAndWhichOffsetsWouldBeSkipped) {
  must_open();
  must_append(batch_of(2, "a"), true);
  kill();
  const std::size_t end = segment().size();
  segment().resize(end + 100, std::byte{0x5A});
  const log::Verdict found = verdict();
  EXPECT_FALSE(found.is_refused());
  EXPECT_FALSE(found.clean);
  EXPECT_THAT(found.changes, Contains(HasSubstr("100 bytes from byte " + std::to_string(end))));
  ASSERT_TRUE(found.mint_from);
  EXPECT_GT(*found.mint_from, Offset(2));
}

// What it announces is what the next start does, no more and no less.
TEST_F(Verify, NamesEveryChangeThatAStartMakes) {
  auto with = options();
  with.segment_bytes = 6000;
  must_open(with);
  for (int i = 0; i < 6; ++i) must_append(batch_of(2, "x"), true);
  log_->append(stamped(batch_of(2, "x"), true), [](Result<void>) {});
  queue_.run_one();  // the roll, but not the seal of the first segment
  const MemoryStorage::Files killed = storage_.snapshot();
  kill();
  storage_.restore(killed);
  const log::Verdict found = verdict();
  ASSERT_FALSE(found.is_refused());
  EXPECT_THAT(found.changes, Contains(HasSubstr(path_of(Op{1}) + ": its seal is written")));
  EXPECT_THAT(found.changes, Contains(HasSubstr(path_of(Op{7}) + ": its header page and 0 bytes from byte 4096 on are written once more")));
  EXPECT_THAT(found.changes, Contains(HasSubstr("offsets 12 to 65535 become a gap")));
  EXPECT_EQ(found.changes.size(), 3U);
}

TEST_F(Verify, JudgesWithTheWitnessAsAStartDoes) {
  must_open();
  for (int i = 0; i < 3; ++i) must_append(batch_of(2, "x"));
  kill();
  ASSERT_TRUE(witness_.has_value());
  EXPECT_TRUE(verdict().mint_from.has_value());
  const log::Verdict trusted = verdict(witness_);
  EXPECT_TRUE(trusted.trusted);
  EXPECT_FALSE(trusted.mint_from.has_value());
  EXPECT_THAT(trusted.changes, ::testing::Not(Contains(HasSubstr("gap"))));
}

TEST_F(Verify, JudgesTheFilesAlsoWhereARefusalStands) {
  must_open();
  must_append(batch_of(2, "a"), true);
  must_append(batch_of(2, "b"), true);
  close_log();
  const ByteVector sound = segment();
  segment()[log::kSegmentPageBytes + 200] ^= std::byte{1};
  const std::string code = open_code();
  log::Verdict found = verdict();
  ASSERT_TRUE(found.standing && found.refusal);
  EXPECT_EQ(found.refusal->code(), code);
  // The bytes are repaired, but the marker is still there.
  segment() = sound;
  found = verdict();
  EXPECT_TRUE(found.standing);
  EXPECT_FALSE(found.refusal);
  EXPECT_EQ(found.entries, 2U);
}

// The start that believes seals does not see the damage: both outcomes are said.
TEST_F(Verify, SaysWhetherAStartThatBelievesSealsServesADamagedLog) {
  must_open(small());
  fill(20);
  close_log();
  auto by_seals = small();
  by_seals.verify_sealed = false;
  EXPECT_EQ(verdict_with(by_seals).segments_by_seal, 3U);
  EXPECT_EQ(verdict_with(small()).segments_by_seal, 0U);
  segment(7)[position_of(2) + 200] ^= std::byte{1};
  log::Verdict found = verdict_with(small());
  ASSERT_TRUE(found.refusal);
  EXPECT_TRUE(found.served_by_seals);
  found = verdict_with(by_seals);
  EXPECT_FALSE(found.refusal);
  EXPECT_EQ(found.entries, 2U) << "those of the last segment were looked at";
  // In the last one both see it.
  segment(19)[position_of(0) + 200] ^= std::byte{1};
  segment(7)[position_of(2) + 200] ^= std::byte{1};
  found = verdict_with(small());
  ASSERT_TRUE(found.refusal);
  EXPECT_FALSE(found.served_by_seals);
}

}  // namespace
}  // namespace sluice::test
