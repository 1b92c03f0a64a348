// SPDX-License-Identifier: Apache-2.0
#include "core/log/segment_page.hpp"
#include "core/node/errc.hpp"
#include "core/node/open_group.hpp"
#include "core/node/partition_host.hpp"
#include "tests/unit/core/node/host_fixture.hpp"

namespace sluice::node {
namespace {

class Purge : public HostFixture {
 protected:
  void SetUp() override { open(); }
  void open() {
    host_.reset();
    queue_ = ReorderingQueue();  // its process is dead
    auto opened = open_partition(storage_, queue_, options());
    ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
    PartitionHost::Options host_options{"s/a/0", {}, [](const Error&) {}, [this](Error error) { warnings_.push_back(std::move(error)); }};
    host_ = std::make_unique<PartitionHost>(std::move(host_options), std::move(opened->log), std::move(opened->state), shard_, clock_);
  }
  void append() {
    host_->append({batch_of("x")}, [](const Result<Proposed>& outcome) { EXPECT_TRUE(outcome.has_value()); });
  }
  // What a reader finds there.
  std::string read_code(std::uint64_t from) {
    std::optional<Result<ReadOutcome>> read;
    host_->read({.from = Offset(from)}, into(read));
    queue_.run_all();
    return *read ? "entries: " + std::to_string((*read)->entries.size()) : std::string(read->error().code());
  }
  bool has_segment(std::uint64_t first_op) { return storage_.exists(options().directory + "/" + log::segment_name(Op(first_op))); }

  storage::IoThreads threads_{1};
  Shard shard_{0, threads_};  // not started: everything runs in the test
  std::vector<Error> warnings_;
  std::unique_ptr<PartitionHost> host_;
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
  open();
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
