// SPDX-License-Identifier: Apache-2.0
#include "core/node/errc.hpp"
#include "tests/unit/core/node/partition_fixture.hpp"

namespace sluice::node {
namespace {

class Purge : public PartitionFixture {
 protected:
  void SetUp() override { start_host(); }
  // What a reader finds there.
  std::string read_code(std::uint64_t from) {
    std::optional<Result<ReadOutcome>> read;
    host_->read({.from = Offset(from)}, into(read));
    queue_.run_all();
    return *read ? "entries: " + std::to_string((*read)->entries.size()) : std::string(read->error().code());
  }

  std::optional<Result<PartitionView>> purged_;
};

TEST_F(Purge, TakesEverythingAndOffsetsGoOn) {
  append();
  append();
  queue_.run_all();
  append();  // on its way
  host_->purge(into(purged_));
  queue_.run_all();
  ASSERT_TRUE(purged_.has_value() && purged_->has_value());
  EXPECT_EQ((*purged_)->first_offset, Offset(3));
  EXPECT_EQ(read_code(2), "node.out_of_range");
  EXPECT_EQ(read_code(3), "entries: 0");
  EXPECT_FALSE(has_segment(1));
  EXPECT_TRUE(has_segment(4));
  append();
  queue_.run_all();
  EXPECT_EQ(read_code(3), "entries: 1");
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(Purge, HoldsAfterACrashBeforeTheSegmentsWent) {
  append();
  queue_.run_all();
  host_->purge(into(purged_));
  while (!purged_ && queue_.size() > 0) queue_.run_one();
  ASSERT_TRUE(purged_.has_value() && purged_->has_value());
  ASSERT_TRUE(has_segment(1)) << "the crash comes too late";
  start_host();
  EXPECT_EQ(read_code(0), "node.out_of_range");
  EXPECT_EQ(host_->inspect()->first_offset, Offset(1));
  append();
  queue_.run_all();
  EXPECT_EQ(read_code(1), "entries: 2") << "the gap of a start without a witness, and the record";
}

TEST_F(Purge, OfAnEmptyPartitionAndASecondTimeChangesNothing) {
  host_->purge(into(purged_));
  queue_.run_all();
  ASSERT_TRUE(purged_.has_value() && purged_->has_value());
  purged_.reset();
  host_->purge(into(purged_));
  queue_.run_all();
  ASSERT_TRUE(purged_.has_value() && purged_->has_value());
  EXPECT_EQ((*purged_)->first_offset, Offset(0));
  EXPECT_TRUE(warnings_.empty());
}

}  // namespace
}  // namespace sluice::node
