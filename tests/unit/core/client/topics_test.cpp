// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

using ClientTopicsTest = ClientTest;
using RetentionTest = ClientTest;

constexpr std::uint64_t kMiB = 1ULL << 20;

TEST_F(ClientTopicsTest, ATopicIsThereWhenCreateReturnsAndAfterARestart) {
  const TopicInfo made = create("a", {.partitions = 3});
  ASSERT_EQ(made.partitions.size(), 3U);
  for (const PartitionInfo& partition : made.partitions) {
    EXPECT_FALSE(partition.refused.has_value());
    EXPECT_EQ(append(partition.ref, {"x"}), Offset(1));
  }
  restart();
  const auto listed = client_->list_topics();
  ASSERT_TRUE(listed.has_value());
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().incarnation, made.incarnation);
  EXPECT_EQ(listed->front().options, made.options);
  ASSERT_EQ(listed->front().partitions.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(listed->front().partitions[i].ref, made.partitions[i].ref);
    EXPECT_EQ(listed->front().partitions[i].next_offset, Offset(1));
    EXPECT_GT(listed->front().partitions[i].size_bytes, 0U);
  }
}

TEST_F(ClientTopicsTest, BadNamesAndOptionsAndSecondCreationsAreRefused) {
  create("a");
  EXPECT_TRUE(client_->create_topic({"s", "a"}, {}).error().is(Errc::kTopicExists));
  EXPECT_EQ(client_->create_topic({"s", "../x"}, {}).error().kind(), ErrorKind::kInvalidInput);
  EXPECT_EQ(client_->create_topic({"s", "b"}, {.partitions = 0}).error().kind(), ErrorKind::kInvalidInput);
  EXPECT_TRUE(client_->describe_topic({"s", "b"}).error().is(Errc::kTopicNotFound));
  EXPECT_TRUE(client_->delete_topic({"s", "b"}).error().is(Errc::kTopicNotFound));
}

TEST_F(ClientTopicsTest, ADeletedTopicIsGoneAndANewOneOfItsNameStartsEmpty) {
  const TopicInfo old = create("a");
  append(old.partitions.front().ref, {"x"});
  ASSERT_TRUE(client_->delete_topic({"s", "a"}));
  EXPECT_TRUE(client_->read(old.partitions.front().ref, {}).error().is(Errc::kPartitionNotFound));
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups/1-1"));
  const TopicInfo renewed = create("a");
  EXPECT_NE(renewed.incarnation, old.incarnation);
  EXPECT_NE(renewed.partitions.front().ref, old.partitions.front().ref);
  EXPECT_TRUE(read_all(renewed.partitions.front().ref).empty());
  restart();
  EXPECT_TRUE(client_->read(old.partitions.front().ref, {}).error().is(Errc::kPartitionNotFound));
  EXPECT_TRUE(read_all(renewed.partitions.front().ref).empty());
}

// Whoever loses the race to create a topic may use it as soon as he hears so.
TEST_F(ClientTopicsTest, ATopicThatExistsHasItsPartitionsForEverybody) {
  std::vector<std::jthread> racers;
  for (int i = 0; i < 4; ++i) {
    racers.emplace_back([&] {
      const auto made = client_->create_topic({"s", "raced"}, {.partitions = 8});
      if (!made) {
        EXPECT_TRUE(made.error().is(Errc::kTopicExists));
      }
      const auto described = client_->describe_topic({"s", "raced"});
      ASSERT_TRUE(described.has_value());
      for (const PartitionInfo& partition : described->partitions) EXPECT_FALSE(partition.refused.has_value());
    });
  }
}

TEST_F(ClientTopicsTest, PausedConnectorsSurviveARestart) {
  ASSERT_TRUE(client_->set_paused("orders", true));
  ASSERT_TRUE(client_->set_paused("audit", true));
  ASSERT_TRUE(client_->set_paused("audit", false));
  restart();
  EXPECT_EQ(*client_->paused_connectors(), std::set<std::string>{"orders"});
  EXPECT_EQ(client_->set_paused("No Key", true).error().kind(), ErrorKind::kInvalidInput);
}

// One record of almost a MiB after the other: each fills a segment of its own.
void fill(Client& client, PartitionRef partition, int records) {
  const std::string payload(kMiB - 8192, 'x');
  for (int i = 0; i < records; ++i) {
    AppendBatch batch;
    RecordView record;
    record.payload = as_bytes(payload);
    ASSERT_TRUE(batch.add(record));
    ASSERT_TRUE(client.append(partition, std::move(batch)).has_value());
  }
}

TopicOptions small_segments(const RetentionOptions& retention) {
  return {.enforce_fsync = false, .segment_bytes = kMiB, .retention = retention};
}

TEST_F(RetentionTest, KeepsAPartitionAtItsSizeAndSaysWhatIsGone) {
  const PartitionRef partition = create("a", small_segments({.bytes = 3 * kMiB})).partitions.front().ref;
  fill(*client_, partition, 8);
  restart();
  const PartitionInfo info = client_->describe_topic({"s", "a"})->partitions.front();
  EXPECT_EQ(info.next_offset, Offset(8));
  EXPECT_GE(info.first_offset, Offset(4));
  EXPECT_LT(info.first_offset, Offset(8));
  const auto gone = client_->read(partition, {.from = Offset(0)});
  ASSERT_FALSE(gone.has_value());
  EXPECT_TRUE(gone.error().is(Errc::kOutOfRange));
  const auto& context = gone.error().context();
  ASSERT_FALSE(context.empty());
  EXPECT_EQ(context.front(), (std::pair<std::string, std::string>("earliest", std::to_string(info.first_offset.value()))));
  EXPECT_EQ(read_all(partition, info.first_offset).size(), info.next_offset - info.first_offset);
  // The files below the floor went at this start, at the latest.
  stop();
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(temporary_ / "data/groups/1-1")) bytes += file.file_size();
  EXPECT_LE(bytes, 5 * kMiB);
}

TEST_F(RetentionTest, WaitsForAConsumerAndGoesOnWhenItCommits) {
  const PartitionRef partition = create("a", small_segments({.bytes = 2 * kMiB, .wait_for_consumers = true})).partitions.front().ref;
  ASSERT_TRUE(client_->begin_assignment(partition, "sink", Offset(0)).has_value());
  fill(*client_, partition, 6);
  EXPECT_EQ(client_->describe_topic({"s", "a"})->partitions.front().first_offset, Offset(0));
  ASSERT_TRUE(client_->commit(partition, "sink", Epoch(1), Offset(3), {.delivered = 3}));
  restart();
  EXPECT_EQ(client_->describe_topic({"s", "a"})->partitions.front().first_offset, Offset(3));
}

TEST_F(RetentionTest, HardBytesDoNotWaitForAConsumer) {
  const PartitionRef partition =
      create("a", small_segments({.bytes = kMiB, .wait_for_consumers = true, .hard_bytes = 3 * kMiB})).partitions.front().ref;
  ASSERT_TRUE(client_->begin_assignment(partition, "sink", Offset(0)).has_value());
  fill(*client_, partition, 8);
  restart();
  EXPECT_GE(client_->describe_topic({"s", "a"})->partitions.front().first_offset, Offset(4));
  EXPECT_EQ((*client_->position(partition, "sink"))->committed_next, Offset(0));
}

TEST_F(RetentionTest, KeepsEverythingByDefault) {
  const PartitionRef partition = create("a", small_segments({})).partitions.front().ref;
  fill(*client_, partition, 8);
  restart();
  EXPECT_EQ(read_all(partition).size(), 8U);
}

}  // namespace
}  // namespace sluice::client
