// SPDX-License-Identifier: Apache-2.0
// A partition that is taken away while calls of it are on the disk. Each test would touch freed memory if it went before they ended.
#include "core/node/partition_host.hpp"

#include "core/node/errc.hpp"
#include "core/partition/errc.hpp"
#include "tests/unit/core/node/host_fixture.hpp"

namespace sluice::node {
namespace {

class PartitionHostTest : public HostFixture {
 protected:
  void SetUp() override {
    PartitionHost::Options host_options{
        "s/a/0", {.enforce_fsync = false}, [](const Error&) {}, [this](Error error) { warnings_.push_back(std::move(error)); }};
    host_ = std::make_unique<PartitionHost>(std::move(host_options), open_log(), partition::PartitionState(), shard_, clock_);
  }
  void fill(int records) {
    for (int i = 0; i < records; ++i) {
      host_->append({batch_of(std::string(1000, 'x'))}, [](const Result<Proposed>& outcome) { EXPECT_TRUE(outcome.has_value()); });
      queue_.run_all();
    }
  }
  // What a deletion does: closes, and destroys once that is answered.
  void take_away() {
    host_->close([this](const Result<void>&) { closed_ = true; });
  }
  // What was there first comes last.
  void run_until_gone() {
    while (queue_.size() > 0) {
      queue_.run_newest();
      if (closed_) host_.reset();
    }
    EXPECT_TRUE(closed_);
  }

  storage::IoThreads threads_{1};
  Shard shard_{0, threads_};  // not started: everything runs in the test
  std::vector<Error> warnings_;
  bool closed_ = false;
  std::unique_ptr<PartitionHost> host_;
};

TEST_F(PartitionHostTest, GoesOnlyAfterAReadOfTheDiskWasAnswered) {
  fill(3);
  std::optional<Result<ReadOutcome>> read;
  host_->read({.from = Offset(0)}, into(read));
  ASSERT_FALSE(read.has_value());
  take_away();
  EXPECT_FALSE(closed_);
  run_until_gone();
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->has_value());
}

TEST_F(PartitionHostTest, GoesOnlyAfterASearchForATimeWasAnswered) {
  fill(3);
  std::optional<Result<Offset>> found;
  host_->offset_for_time(TimestampUs(0), into(found));
  take_away();
  EXPECT_FALSE(closed_);
  std::optional<Result<Offset>> late;
  host_->offset_for_time(TimestampUs(0), into(late));
  ASSERT_TRUE(late.has_value());
  EXPECT_TRUE(late->error().is(Errc::kStopped));
  run_until_gone();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->value(), Offset(0));
}

TEST_F(PartitionHostTest, GoesOnlyAfterItsSegmentsWereRemoved) {
  fill(40);
  std::optional<Result<PartitionView>> trimmed;
  host_->propose(partition::Trim{Offset(20)}, into(trimmed));
  queue_.run_all();
  ASSERT_TRUE(trimmed.has_value() && trimmed->has_value());
  host_->resume_retention();
  ASSERT_EQ(queue_.size(), 1U);
  take_away();
  EXPECT_FALSE(closed_);
  run_until_gone();
  EXPECT_FALSE(storage_.exists(options().directory + "/" + log::segment_name(Op(1))));
  EXPECT_TRUE(warnings_.empty());
}

// The floor may lie inside a segment, which then stays.
TEST_F(PartitionHostTest, ServesNothingBelowItsFloor) {
  fill(3);
  std::optional<Result<PartitionView>> trimmed;
  host_->propose(partition::Trim{Offset(2)}, into(trimmed));
  queue_.run_all();
  ASSERT_TRUE(trimmed.has_value() && trimmed->has_value());
  std::optional<Result<ReadOutcome>> read;
  host_->read({.from = Offset(1)}, into(read));
  queue_.run_all();
  ASSERT_TRUE(read.has_value());
  ASSERT_FALSE(read->has_value());
  EXPECT_TRUE(read->error().is(Errc::kOutOfRange)) << read->error().to_string();
  EXPECT_NE(read->error().to_string().find("earliest=2"), std::string::npos) << read->error().to_string();
}

TEST_F(PartitionHostTest, GoesOnlyAfterItsCheckpointWasWritten) {
  fill(3);
  host_->append({batch_of(std::string(1000, 'x'))}, [](const Result<Proposed>& outcome) { EXPECT_TRUE(outcome.has_value()); });
  queue_.run_one();  // the roll, which makes a checkpoint due
  ASSERT_GT(queue_.size(), 0U);
  take_away();
  EXPECT_FALSE(closed_);
  run_until_gone();
  EXPECT_TRUE(storage_.exists(options().directory + "/" + log::kCheckpointName));
}

// Else the source would be fenced by the begin that never was, for as long as the partition is open.
TEST_F(PartitionHostTest, ABeginThatAFullDiskRefusedLeavesTheTenureAsItWas) {
  const auto begin = [this] {
    std::optional<Result<PartitionView>> out;
    host_->propose(partition::BeginSource{"in"}, into(out));
    queue_.run_all();
    return out.value_or(fail(Errc::kStopped, "not answered"));
  };
  ASSERT_TRUE(begin());
  const test::MemoryStorage::Fault full{test::Change::kWrite, 1, ENOSPC};
  storage_.fault = full;
  host_->append({batch_of("x")}, [](const Result<Proposed>&) {});
  queue_.run_all();
  storage_.fault = full;
  const auto refused = begin();
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().is(log::Errc::kStorageFull)) << refused.error().to_string();
  storage_.fault.reset();
  (void)begin();  // makes the log try again, and may still be refused
  const auto begun = begin();
  ASSERT_TRUE(begun) << begun.error().to_string();
  std::optional<Result<Proposed>> appended;
  host_->append({batch_of("y"), SourceClaim{"in", begun->state->source("in")->epoch, 1}}, into(appended));
  queue_.run_all();
  ASSERT_TRUE(appended && *appended) << (appended ? appended->error().to_string() : "no answer");
}

entry::EntryDraft request_of(ClientId client, std::uint64_t number, const std::string& payload) {
  entry::EntryDraft draft = batch_of(payload);
  draft.set_request(client, RequestNumber(number));
  return draft;
}

class NumberedRequestTest : public PartitionHostTest {
 protected:
  // Its outcome once the disk has answered.
  Result<Proposed> append(std::uint64_t number, const std::string& payload = "x") {
    std::optional<Result<Proposed>> out;
    host_->append({request_of(kClient, number, payload)}, into(out));
    queue_.run_all();
    return out.value_or(fail(Errc::kStopped, "not answered"));
  }
  static constexpr ClientId kClient{7, 0};
};

// The number is not used up: the producer sends the same request again.
TEST_F(NumberedRequestTest, OneThatAFullDiskRefusedMayComeAgain) {
  ASSERT_TRUE(append(1));
  const test::MemoryStorage::Fault full{test::Change::kWrite, 1, ENOSPC};
  storage_.fault = full;
  host_->append({batch_of("x")}, [](const Result<Proposed>&) {});
  queue_.run_all();
  storage_.fault = full;
  const auto refused = append(2);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().is(log::Errc::kStorageFull)) << refused.error().to_string();
  EXPECT_TRUE(append(3).error().is(partition::Errc::kOutOfSequence));
  storage_.fault.reset();
  (void)append(2);  // makes the log try again, and may still be refused
  const auto stored = append(2);
  ASSERT_TRUE(stored) << stored.error().to_string();
  EXPECT_TRUE(append(3));
}

TEST_F(NumberedRequestTest, OneThatIsSentAgainBeforeItsAnswerIsStoredOnce) {
  std::optional<Result<Proposed>> first;
  std::optional<Result<Proposed>> again;
  std::optional<Result<Proposed>> other;
  std::optional<Result<Proposed>> second;
  std::optional<Result<Proposed>> beyond;
  host_->append({request_of(kClient, 1, "x")}, into(first));
  host_->append({request_of(kClient, 1, "x")}, into(again));
  host_->append({request_of(kClient, 1, "y")}, into(other));
  host_->append({request_of(kClient, 3, "x")}, into(beyond));
  host_->append({request_of(kClient, 2, "x")}, into(second));
  ASSERT_TRUE(other && beyond);
  EXPECT_TRUE(other->error().is(partition::Errc::kRequestReuse));
  EXPECT_TRUE(beyond->error().is(partition::Errc::kOutOfSequence));
  queue_.run_all();
  ASSERT_TRUE(first && *first && again && *again && second && *second);
  EXPECT_EQ((*first)->base_offset, Offset(0));
  EXPECT_EQ((*again)->base_offset, Offset(0));
  EXPECT_EQ((*again)->op, (*first)->op);
  EXPECT_EQ((*second)->base_offset, Offset(1));
  EXPECT_EQ(host_->inspect()->state->next_offset(), Offset(2));
}

// Others have pushed it out of the table, and its second request is still under way.
TEST_F(NumberedRequestTest, TheFirstOneOfAForgottenClientIsNotStoredAgain) {
  ASSERT_TRUE(append(1));
  std::optional<Result<Proposed>> first_again;
  std::optional<Result<Proposed>> second;
  for (std::uint64_t id = 1; id <= partition::kClientsMax; ++id) {
    host_->append({request_of({id, 1}, 1, "x")}, [&, id](const Result<Proposed>& outcome) {
      EXPECT_TRUE(outcome.has_value());
      if (id == partition::kClientsMax) host_->append({request_of(kClient, 1, "x")}, into(first_again));
    });
  }
  host_->append({request_of(kClient, 2, "x")}, into(second));
  queue_.run_all();
  ASSERT_TRUE(first_again && second && *second);
  ASSERT_FALSE(*first_again);
  EXPECT_TRUE(first_again->error().is(partition::Errc::kDuplicateNoResult)) << first_again->error().to_string();
  EXPECT_TRUE(append(3));
}

}  // namespace
}  // namespace sluice::node
