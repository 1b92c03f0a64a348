// SPDX-License-Identifier: Apache-2.0
#include "core/log/scrub_record.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/log/errc.hpp"

namespace sluice::log {
namespace {

using std::chrono::hours;

class ScrubRecordTest : public ::testing::Test {
 protected:
  static EntryLog::SegmentInfo segment(std::uint64_t first_op, bool by_seal) {
    EntryLog::SegmentInfo out;
    out.first_op = Op{first_op};
    out.last_op = Op{first_op + 9};
    out.sealed = true;
    out.by_seal = by_seal;
    return out;
  }
  // First op of the segment that is next; 0 if none is.
  std::uint64_t next(hours now) {
    const auto place = record_.next(segments_, now, hours{10});
    return place ? place->segment.value() : 0;
  }
  static ScrubStep end_of(std::uint64_t segment, std::optional<Error> damage = std::nullopt) {
    ScrubStep out;
    out.next.segment = Op{segment};
    out.bytes = 100;
    out.at_end = true;
    out.damage = std::move(damage);
    return out;
  }
  static Error damage(const std::string& what) { return Error(Errc::kScrubDamage, what); }

  std::vector<EntryLog::SegmentInfo> segments_;
  ScrubRecord record_;
};

TEST_F(ScrubRecordTest, BeginsWithWhatTheStartHasBelieved) {
  segments_ = {segment(1, false), segment(11, true), segment(21, true)};
  EXPECT_EQ(next(hours{0}), 11U);
  EXPECT_EQ(record_.due(), 2U);
  EXPECT_FALSE(record_.note(end_of(11), hours{0}));
  EXPECT_EQ(next(hours{0}), 21U);
  EXPECT_FALSE(record_.note(end_of(21), hours{0}));
  EXPECT_EQ(next(hours{1}), 0U);
  EXPECT_EQ(record_.due(), 0U);
  EXPECT_EQ(record_.bytes(), 200U);
}

TEST_F(ScrubRecordTest, ComesBackAfterTheIntervalAndNotBefore) {
  segments_ = {segment(1, true), segment(11, false)};
  EXPECT_EQ(next(hours{0}), 1U);
  EXPECT_FALSE(record_.note(end_of(1), hours{3}));
  EXPECT_EQ(next(hours{9}), 0U);
  EXPECT_EQ(next(hours{10}), 11U) << "it was seen first at 0";
  EXPECT_FALSE(record_.note(end_of(11), hours{10}));
  EXPECT_EQ(next(hours{12}), 0U);
  EXPECT_EQ(next(hours{13}), 1U);
}

TEST_F(ScrubRecordTest, GoesOnWithTheSegmentThatIsBegun) {
  segments_ = {segment(1, true), segment(11, true)};
  EXPECT_EQ(next(hours{0}), 1U);
  ScrubStep step;
  step.next = {.segment = Op{1}, .position = 5000, .before = {}};
  EXPECT_FALSE(record_.note(step, hours{0}));
  EXPECT_EQ(record_.next(segments_, hours{0}, hours{10})->position, 5000U);
  // It is removed.
  segments_.erase(segments_.begin());
  EXPECT_EQ(next(hours{0}), 11U);
  EXPECT_EQ(record_.next(segments_, hours{0}, hours{10})->position, 0U);
}

TEST_F(ScrubRecordTest, PassesOverWhatIsNotSealedYet) {
  segments_ = {segment(1, false)};
  segments_.back().sealed = false;
  EXPECT_EQ(next(hours{0}), 0U);
  EXPECT_EQ(next(hours{20}), 0U);
  segments_.back().sealed = true;
  EXPECT_EQ(next(hours{25}), 0U);
  EXPECT_EQ(next(hours{35}), 1U);
}

TEST_F(ScrubRecordTest, TellsOfEachDamageOnce) {
  segments_ = {segment(1, true), segment(11, true)};
  EXPECT_TRUE(record_.note(end_of(1, damage("byte 7")), hours{0}));
  EXPECT_TRUE(record_.note(end_of(11, damage("byte 8")), hours{0}));
  EXPECT_FALSE(record_.note(end_of(1, damage("byte 7")), hours{10})) << "it is known";
  EXPECT_TRUE(record_.note(end_of(1, damage("byte 3")), hours{20})) << "another one";
  EXPECT_EQ(record_.damage().size(), 2U);
  // One that is sound again, and one that is removed, are forgotten.
  EXPECT_FALSE(record_.note(end_of(1), hours{30}));
  EXPECT_EQ(record_.damage().size(), 1U);
  segments_ = {segment(1, true)};
  EXPECT_EQ(next(hours{31}), 0U);
  EXPECT_TRUE(record_.damage().empty());
}

}  // namespace
}  // namespace sluice::log
