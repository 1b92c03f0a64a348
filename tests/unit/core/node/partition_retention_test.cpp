// SPDX-License-Identifier: Apache-2.0
// A partition that gives records up by their age. Timers do not run here: resume_retention() looks as they do.
#include "tests/unit/core/node/partition_fixture.hpp"

namespace sluice::node {
namespace {

using std::chrono::hours;

class PartitionRetention : public PartitionFixture {
 protected:
  void SetUp() override { open(); }
  void open() {
    start_host({.retention = {.wait_for_consumers = true, .age = hours(4)}});
    queue_.run_all();  // the gap of a start without a witness
  }
  void append() {
    PartitionFixture::append();
    queue_.run_all();
  }
  void look() {
    host_->resume_retention();
    queue_.run_all();
  }
  Offset first() { return host_->inspect()->first_offset; }
};

TEST_F(PartitionRetention, AQuietPartitionExpires) {
  append();
  clock_.advance(hours(4) - std::chrono::milliseconds(1));
  look();
  EXPECT_EQ(first(), Offset(0));
  clock_.advance(std::chrono::milliseconds(1));
  look();
  EXPECT_EQ(first(), Offset(1));
  EXPECT_FALSE(has_segment(1));
  EXPECT_TRUE(has_segment(2));
  look();
  EXPECT_FALSE(has_segment(3)) << "a partition without records makes no segments";
  append();
  EXPECT_EQ(first(), Offset(1));
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(PartitionRetention, ASlowButSteadyPartitionExpiresToo) {
  for (int i = 0; i < 12; ++i) {
    append();
    clock_.advance(std::chrono::minutes(30));
    look();
    // What is there is never older than the age and a quarter of it.
    EXPECT_GE(first().value(), static_cast<std::uint64_t>(std::max(0, i - 9))) << i;
    EXPECT_LE(first().value(), static_cast<std::uint64_t>(std::max(0, i - 6))) << i;
  }
  EXPECT_GT(first(), Offset(0));
  EXPECT_FALSE(has_segment(1));
}

TEST_F(PartitionRetention, ASegmentGetsNoYoungerByARestart) {
  append();
  clock_.advance(std::chrono::minutes(50));
  open();
  append();
  EXPECT_FALSE(has_segment(3)) << "it is younger than a quarter of the age";
  clock_.advance(std::chrono::minutes(10));
  append();
  EXPECT_TRUE(has_segment(4)) << "op 1 and a gap and two records";
}

TEST_F(PartitionRetention, WaitsForAConsumerAndGoesOnWhenItCommits) {
  append();
  host_->propose(partition::BeginAssignment{"sink", Offset(0)}, [](const Result<PartitionView>&) {});
  queue_.run_all();
  clock_.advance(hours(9));
  look();
  EXPECT_EQ(first(), Offset(0));
  host_->propose(partition::CommitOffset{"sink", Epoch(1), Offset(1), {.delivered = 1}}, [](const Result<PartitionView>&) {});
  queue_.run_all();
  EXPECT_EQ(first(), Offset(1)) << "the commit begins a segment, and what was before it is expired";
  EXPECT_FALSE(has_segment(1));
}

TEST_F(PartitionRetention, ATrimHoldsAfterACrashBeforeTheSegmentsWent) {
  append();
  clock_.advance(hours(4));
  host_->resume_retention();
  while (first() == Offset(0) && queue_.size() > 0) queue_.run_one();
  ASSERT_EQ(first(), Offset(1));
  ASSERT_TRUE(has_segment(1)) << "the crash comes too late";
  open();
  EXPECT_EQ(first(), Offset(1));
  look();
  EXPECT_FALSE(has_segment(1));
}

}  // namespace
}  // namespace sluice::node
