// SPDX-License-Identifier: Apache-2.0
#include "core/log/scrub.hpp"

#include <cerrno>

#include <gmock/gmock.h>

#include "core/log/frontier.hpp"
#include "core/log/segment_scan.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;

// Segments of six entries each: 1, 7, 13 are sealed, 19 is active.
class Scrub : public LogFixture {
 protected:
  void SetUp() override {
    must_open(small());
    fill(20);
  }

  std::optional<Result<log::ScrubStep>> step(const log::ScrubPlace& from, std::uint64_t bytes_max = 1u << 20) {
    auto outcome = std::make_shared<std::optional<Result<log::ScrubStep>>>();
    log_->scrub(from, bytes_max, [outcome](Result<log::ScrubStep> found) { *outcome = std::move(found); });
    queue_.run_all();
    return *outcome;
  }
  log::ScrubStep must_step(const log::ScrubPlace& from, std::uint64_t bytes_max = 1u << 20) {
    auto found = step(from, bytes_max);
    if (!found || !*found) {
      ADD_FAILURE() << (found ? found->error().to_string() : "no answer");
      return {};
    }
    return **std::move(found);
  }
  static log::ScrubPlace beginning_of(std::uint64_t segment) { return {.segment = Op{segment}, .position = 0, .before = {}}; }
  // What the scrub of the whole segment finds; "" if it is sound.
  std::string damage_of(std::uint64_t segment) {
    const log::ScrubStep found = must_step(beginning_of(segment));
    EXPECT_TRUE(found.at_end);
    return found.damage ? found.damage->message() : "";
  }
  void damage(std::uint64_t first_op, std::uint64_t position) { segment(first_op)[position] ^= std::byte{1}; }
};

TEST_F(Scrub, FindsNothingInASoundSegment) {
  for (const std::uint64_t segment : {1U, 7U, 13U}) {
    const log::ScrubStep found = must_step(beginning_of(segment));
    EXPECT_TRUE(found.at_end);
    EXPECT_FALSE(found.damage) << found.damage->to_string();
    EXPECT_EQ(found.bytes, position_of(6));
  }
  EXPECT_EQ(storage_.forgotten_bytes, 3 * position_of(6)) << "what the system's cache holds says nothing about the device";
}

TEST_F(Scrub, GoesOnWhereItWasInStepsOfSoManyBytesOrOneEntry) {
  log::ScrubStep found = must_step(beginning_of(7), log::kSegmentPageBytes + 1);
  EXPECT_EQ(found.next.position, position_of(1));
  EXPECT_FALSE(found.at_end);
  for (std::uint64_t entry = 2; entry <= 6; ++entry) {
    found = must_step(found.next, 1);
    EXPECT_EQ(found.next.position, position_of(entry));
    EXPECT_EQ(found.bytes, kFilledBytes);
    EXPECT_FALSE(found.at_end);
  }
  found = must_step(found.next, 1);
  EXPECT_TRUE(found.at_end);
  EXPECT_FALSE(found.damage);
}

TEST_F(Scrub, NamesSegmentAndPositionOfTheDamage) {
  damage(7, position_of(2) + 200);
  const log::ScrubStep found = must_step(beginning_of(7));
  EXPECT_TRUE(found.at_end);
  ASSERT_TRUE(found.damage.has_value());
  EXPECT_TRUE(found.damage->is(log::Errc::kScrubDamage));
  EXPECT_THAT(found.damage->message(), HasSubstr(path_of(Op{7}) + " at byte " + std::to_string(position_of(2))));
  EXPECT_THAT(found.damage->to_string(), HasSubstr("position=" + std::to_string(position_of(2))));
  EXPECT_EQ(damage_of(1), "");
  EXPECT_EQ(damage_of(13), "");
}

// Every byte counts: none of them may rot unseen.
TEST_F(Scrub, FindsWhateverBitRots) {
  const std::size_t size = segment(7).size();
  for (std::size_t at = 0; at < size; at += at < 1536 || at >= log::kSegmentPageBytes ? 1 : 64) {
    damage(7, at);
    EXPECT_NE(damage_of(7), "") << "byte " << at;
    damage(7, at);
  }
  EXPECT_EQ(damage_of(7), "");
}

TEST_F(Scrub, FindsWhatIsMissingOrInThePlaceOfAnother) {
  const ByteVector sound = segment(7);
  segment(7).resize(sound.size() - 8);
  EXPECT_THAT(damage_of(7), HasSubstr("its seal says"));
  segment(7) = sound;
  segment(7).resize(sound.size() + 8);
  EXPECT_THAT(damage_of(7), HasSubstr("its seal says"));
  segment(7) = segment(13);
  EXPECT_THAT(damage_of(7), HasSubstr("of another segment"));
  // Its entries alone: each verifies by itself.
  segment(7) = sound;
  const ByteVector& other = segment(13);
  std::copy(other.begin() + log::kSegmentPageBytes, other.end(), segment(7).begin() + log::kSegmentPageBytes);
  EXPECT_THAT(damage_of(7), HasSubstr("follows op 6"));
  storage_.erase(path_of(Op{7}));
  EXPECT_THAT(damage_of(7), HasSubstr("cannot be read"));
}

TEST_F(Scrub, EndsAtTheVeryEntryThatTheSealNames) {
  const log::ScrubStep before_last = must_step(beginning_of(7), position_of(5));
  ASSERT_EQ(before_last.next.position, position_of(5));
  // A place that is not the log's: behind the last entry, and after another one.
  log::ScrubPlace at_end = before_last.next;
  at_end.position = position_of(6);
  const log::ScrubStep found = must_step(at_end);
  ASSERT_TRUE(found.damage.has_value());
  EXPECT_THAT(found.damage->message(), HasSubstr("op 12, which the seal names"));
}

TEST_F(Scrub, TakesWhatTheDeviceCannotReadForDamage) {
  storage_.read_error = EIO;
  const log::ScrubStep found = must_step(beginning_of(7));
  storage_.read_error.reset();
  ASSERT_TRUE(found.damage.has_value());
  EXPECT_THAT(found.damage->message(), HasSubstr("cannot be read"));
  EXPECT_FALSE(log_->fenced());
}

TEST_F(Scrub, SaysNothingAboutASegmentWhenTheProcessHasNoRoom) {
  storage_.read_error = ENOSPC;
  const auto found = step(beginning_of(7));
  storage_.read_error.reset();
  ASSERT_TRUE(found && !found->has_value());
  EXPECT_TRUE(found->error().is(sluice::Errc::kNoSpace));
}

TEST_F(Scrub, LeavesReadsOfHealthyRangesAlone) {
  damage(7, position_of(2) + 200);
  EXPECT_NE(damage_of(7), "");
  kill();
  auto by_seal = small();
  by_seal.verify_sealed = false;
  by_seal.hot_bytes = 0;
  must_open(by_seal);
  EXPECT_NE(damage_of(7), "");
  EXPECT_EQ(read(Offset{12}, kFilledBytes)->entries.size(), 1U);
  const auto damaged = read(Offset{16}, kFilledBytes);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_TRUE(damaged.error().is(log::Errc::kDamagedEntry));
  EXPECT_EQ(read(Offset{18}, kFilledBytes)->entries.size(), 1U);
  must_append(batch_of(2, "x"), true);
  EXPECT_FALSE(log_->fenced());
}

TEST_F(Scrub, LooksAtSealedSegmentsOnly) {
  for (const log::EntryLog::SegmentInfo& segment : log_->sealed_segments()) EXPECT_TRUE(segment.sealed);
  // The seventh entry of segment 19 makes it complete; it is being sealed.
  fill(4);
  log_->append(stamped(batch_of(2, "x")), [](Result<void>) {});
  while (log_->sealed_segments().size() < 4) queue_.run_one();
  EXPECT_FALSE(log_->sealed_segments().back().sealed);
  std::optional<Result<log::ScrubStep>> found;
  log_->scrub(beginning_of(19), 1u << 20, [&](Result<log::ScrubStep> outcome) { found = std::move(outcome); });
  ASSERT_TRUE(found && found->has_value()) << "there is nothing to wait for";
  EXPECT_EQ((*found)->bytes, 0U);
  queue_.run_all();
  EXPECT_TRUE(log_->sealed_segments().back().sealed);
  EXPECT_EQ(damage_of(19), "");
}

TEST_F(Scrub, OfASegmentThatIsRemovedMeanwhileIsAtItsEnd) {
  ASSERT_TRUE(checkpoint("state").has_value());
  std::optional<Result<log::ScrubStep>> found;
  log_->scrub(beginning_of(1), 1u << 20, [&](Result<log::ScrubStep> outcome) { found = std::move(outcome); });
  log_->drop_before(Offset{12}, [](const Result<std::size_t>&) {});
  // The file goes before the job comes to it.
  ASSERT_TRUE(log::remove_segment_files(storage_, kDirectory, Op{1}).has_value());
  queue_.run_all();
  ASSERT_TRUE(found && found->has_value());
  EXPECT_TRUE((*found)->at_end);
  EXPECT_FALSE((*found)->damage) << (*found)->damage->to_string();
  EXPECT_TRUE(must_step(beginning_of(1)).at_end) << "and so it is when it went before";
}

TEST_F(Scrub, StopsWithTheLog) {
  std::optional<Result<log::ScrubStep>> found;
  log_->scrub(beginning_of(1), 1u << 20, [&](Result<log::ScrubStep> outcome) { found = std::move(outcome); });
  close_log();
  ASSERT_TRUE(found && !found->has_value());
  EXPECT_TRUE(found->error().is(log::Errc::kStopped));
  must_open(small());
  storage_.fault = MemoryStorage::Fault{Change::kSync, 1, EIO};
  EXPECT_FALSE(append(batch_of(2, "x"), true).has_value());
  ASSERT_TRUE(log_->fenced());
  const auto fenced = step(beginning_of(1));
  ASSERT_TRUE(fenced && !fenced->has_value());
  EXPECT_TRUE(fenced->error().is(log::Errc::kFenced));
}

}  // namespace
}  // namespace sluice::test
