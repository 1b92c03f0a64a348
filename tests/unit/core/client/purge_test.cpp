// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

using PurgeTest = ClientTest;

TEST_F(PurgeTest, TakesEverythingFromEveryPartitionAndOffsetsGoOn) {
  const TopicInfo topic = create("a", {.partitions = 3, .retention = {.wait_for_consumers = true}});
  for (const PartitionInfo& partition : topic.partitions) append(partition.ref, {"x", "y"});
  ASSERT_TRUE(client_->begin_assignment(topic.partitions[0].ref, "sink", Offset(0)).has_value());
  const auto purged = client_->purge_topic({"s", "a"});
  ASSERT_TRUE(purged.has_value()) << purged.error().to_string();
  for (const PartitionInfo& partition : purged->partitions) {
    EXPECT_EQ(partition.first_offset, Offset(2));
    EXPECT_EQ(partition.next_offset, Offset(2));
    EXPECT_TRUE(client_->read(partition.ref, {.from = Offset(0)}).error().is(Errc::kOutOfRange));
    EXPECT_EQ(append(partition.ref, {"z"}), Offset(3));
    EXPECT_EQ(read_all(partition.ref, Offset(2)), std::vector<std::string>{"z"});
  }
}

TEST_F(PurgeTest, HoldsAfterAKillAlsoWithoutFsync) {
  const PartitionRef partition = create("a", {.enforce_fsync = false}).partitions.front().ref;
  append(partition, {"x"});
  ASSERT_TRUE(client_->purge_topic({"s", "a"}).has_value());
  // The files that it leaves behind go beside the work; a copy is of a directory in which nothing moves.
  wait_until([&] { return !std::filesystem::exists(temporary_ / "data/groups/1-1/00000000000000000001.index"); });
  continue_on_a_copy();
  EXPECT_EQ(client_->describe_topic({"s", "a"})->partitions.front().first_offset, Offset(1));
  EXPECT_TRUE(client_->read(partition, {.from = Offset(0)}).error().is(Errc::kOutOfRange));
}

TEST_F(PurgeTest, OfATopicThatIsNotThereIsRefused) {
  EXPECT_TRUE(client_->purge_topic({"s", "none"}).error().is(Errc::kTopicNotFound));
}

TEST_F(PurgeTest, TakesNothingWhileAPartitionIsNotServed) {
  const TopicInfo topic = create("a", {.partitions = 2});
  append(topic.partitions[0].ref, {"x"});
  stop();
  std::filesystem::remove_all(temporary_ / "data/groups/2-1");
  start();
  const auto refused = client_->purge_topic({"s", "a"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kPartitionRefused)) << refused.error().to_string();
  EXPECT_EQ(read_all(topic.partitions[0].ref), std::vector<std::string>{"x"});
}

}  // namespace
}  // namespace sluice::client
