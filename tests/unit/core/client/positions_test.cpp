// SPDX-License-Identifier: Apache-2.0
#include "core/client/client.hpp"
#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

using ClientPositionsTest = ClientTest;

SourceState files_state(std::uint64_t sequence, const std::string& text = "cursor") {
  SourceState state;
  state.connector = "files";
  state.state_version = 1;
  state.writer_version = "1.0";
  state.sequence = sequence;
  state.bytes.assign(as_bytes(text).begin(), as_bytes(text).end());
  return state;
}

TEST_F(ClientPositionsTest, CommitsSurviveARestartWithTheirAccounting) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"1", "2", "3", "4"});
  EXPECT_FALSE(client_->position(partition, "sink")->has_value());
  const auto begun = client_->begin_assignment(partition, "sink", Offset(0));
  ASSERT_TRUE(begun.has_value());
  EXPECT_EQ(begun->epoch, Epoch(1));
  ASSERT_TRUE(client_->commit(partition, "sink", Epoch(1), Offset(3), {.delivered = 2, .skipped = 1}));
  restart();
  const auto again = client_->begin_assignment(partition, "sink", Offset(0));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(*again, (GroupPosition{Epoch(2), Offset(0), Offset(3), {.delivered = 2, .skipped = 1}}));
  EXPECT_EQ(**client_->position(partition, "sink"), *again);
}

TEST_F(ClientPositionsTest, ACommitOfAnOlderAssignmentIsFenced) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"1", "2"});
  ASSERT_TRUE(client_->begin_assignment(partition, "sink", Offset(0)).has_value());
  ASSERT_TRUE(client_->begin_assignment(partition, "sink", Offset(0)).has_value());
  const auto fenced = client_->commit(partition, "sink", Epoch(1), Offset(1), {.delivered = 1});
  ASSERT_FALSE(fenced.has_value());
  EXPECT_TRUE(fenced.error().is(Errc::kFenced));
  EXPECT_TRUE(client_->commit(partition, "sink", Epoch(2), Offset(1), {.delivered = 1}).has_value());
}

TEST_F(ClientPositionsTest, ACommitThatDoesNotAddUpIsRefused) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"1", "2"});
  ASSERT_TRUE(client_->begin_assignment(partition, "sink", Offset(0)).has_value());
  const auto refused = client_->commit(partition, "sink", Epoch(1), Offset(2), {.delivered = 1});
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kAccountingMismatch));
  EXPECT_EQ((*client_->position(partition, "sink"))->committed_next, Offset(0));
}

TEST_F(ClientPositionsTest, SourceStateComesBackWithTheRecordsItStandsFor) {
  const PartitionRef partition = create("a").partitions.front().ref;
  const auto begun = client_->begin_source(partition, "files");
  ASSERT_TRUE(begun.has_value());
  EXPECT_FALSE(begun->state.has_value());
  AppendBatch batch = batch_of({"line"});
  ASSERT_TRUE(batch.set_state(files_state(1, "after line"), begun->epoch));
  ASSERT_TRUE(client_->append(partition, std::move(batch)).has_value());
  continue_on_a_copy();
  EXPECT_EQ(read_all(partition), std::vector<std::string>{"line"});
  EXPECT_EQ(client_->source_state(partition, "files")->value(), files_state(1, "after line"));
}

TEST_F(ClientPositionsTest, AStateMayComeWithoutRecords) {
  const PartitionRef partition = create("a").partitions.front().ref;
  const Epoch epoch = client_->begin_source(partition, "files")->epoch;
  AppendBatch batch;
  ASSERT_TRUE(batch.set_state(files_state(4), epoch));
  const auto stored = client_->append(partition, std::move(batch));
  ASSERT_TRUE(stored.has_value()) << stored.error().to_string();
  EXPECT_EQ(stored->base_offset, stored->next_offset);
  restart();
  EXPECT_EQ(client_->source_state(partition, "files")->value().sequence, 4U);
}

TEST_F(ClientPositionsTest, ABatchOfAnOlderTenureIsFencedAndLeavesNoRecord) {
  const PartitionRef partition = create("a").partitions.front().ref;
  const Epoch old = client_->begin_source(partition, "files")->epoch;
  const Epoch now = client_->begin_source(partition, "files")->epoch;
  const auto append_with = [&](Epoch epoch, std::uint64_t sequence) {
    AppendBatch batch = batch_of({"line"});
    EXPECT_TRUE(batch.set_state(files_state(sequence), epoch));
    return client_->append(partition, std::move(batch));
  };
  const auto fenced = append_with(old, 1);
  ASSERT_FALSE(fenced.has_value());
  EXPECT_TRUE(fenced.error().is(Errc::kFenced));
  EXPECT_TRUE(read_all(partition).empty());
  ASSERT_TRUE(append_with(now, 1).has_value());
  const auto repeated = append_with(now, 1);
  ASSERT_FALSE(repeated.has_value());
  EXPECT_TRUE(repeated.error().is(Errc::kStateSequence));
  EXPECT_EQ(read_all(partition).size(), 1U);
}

}  // namespace
}  // namespace sluice::client
