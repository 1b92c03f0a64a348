// SPDX-License-Identifier: Apache-2.0
// What a node does when something is broken: damaged, missing and foreign files, failing devices, sudden ends.
#include <fstream>

#include "core/node/errc.hpp"
#include "core/storage/errc.hpp"
#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

using NodeFailureTest = ClientTest;

void flip_byte(const std::string& path, std::streamoff position) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  ASSERT_TRUE(file.is_open()) << path;
  file.seekg(position);
  const char before = static_cast<char>(file.get());
  file.seekp(position);
  file.put(static_cast<char>(before ^ 0x40));
}

TEST_F(NodeFailureTest, EverythingAcknowledgedIsThereAfterAKill) {
  const PartitionRef synced = create("synced").partitions.front().ref;
  const PartitionRef cached = create("cached", {.enforce_fsync = false}).partitions.front().ref;
  std::vector<std::string> written;
  for (int i = 0; i < 50; ++i) {
    written.push_back(fmt::format("record {}", i));
    append(synced, {written.back()});
    append(cached, {written.back()});
  }
  ASSERT_TRUE(client_->begin_assignment(synced, "sink", Offset(0)).has_value());
  ASSERT_TRUE(client_->commit(synced, "sink", Epoch(1), Offset(20), {.delivered = 20}));
  ASSERT_TRUE(client_->set_paused("sink", true));
  continue_on_a_copy();
  EXPECT_EQ(read_all(synced), written);
  EXPECT_EQ(read_all(cached), written);
  EXPECT_EQ((*client_->position(synced, "sink"))->committed_next, Offset(20));
  EXPECT_EQ(*client_->paused_connectors(), std::set<std::string>{"sink"});
  EXPECT_EQ(append(synced, {"more"}), Offset(51));
}

TEST_F(NodeFailureTest, ADamagedPartitionStaysRefusedWhileOthersServe) {
  const TopicInfo topic = create("a", {.partitions = 2});
  const PartitionRef damaged = topic.partitions[0].ref;
  const PartitionRef healthy = topic.partitions[1].ref;
  for (int i = 0; i < 5; ++i) {
    append(damaged, {"some payload"});
    append(healthy, {"some payload"});
  }
  stop();
  flip_byte(temporary_ / "data/groups/1-1/00000000000000000001.log", 4096 + 200);
  for (std::size_t starts = 0; starts < 2; ++starts) {
    start();
    ASSERT_EQ(node_->recovery().partitions.size(), 2U);
    EXPECT_TRUE(node_->recovery().partitions[0].refused.has_value());
    EXPECT_FALSE(node_->recovery().partitions[1].refused.has_value());
    const auto read = client_->read(damaged, {});
    ASSERT_FALSE(read.has_value());
    EXPECT_TRUE(read.error().is(Errc::kPartitionRefused)) << read.error().to_string();
    EXPECT_TRUE(client_->append(damaged, batch_of({"x"})).error().is(Errc::kPartitionRefused));
    const auto described = client_->describe_topic({"s", "a"});
    ASSERT_TRUE(described.has_value());
    EXPECT_TRUE(described->partitions[0].refused.has_value());
    EXPECT_FALSE(described->partitions[1].refused.has_value());
    EXPECT_EQ(read_all(healthy).size(), 5U + starts);
    append(healthy, {"goes on"});
    stop();
  }
}

TEST_F(NodeFailureTest, ALostPartitionDirectoryIsNotStartedAnew) {
  const TopicInfo topic = create("a", {.partitions = 2});
  append(topic.partitions[0].ref, {"x"});
  stop();
  std::filesystem::remove_all(temporary_ / "data/groups/1-1");
  start();
  const auto& found = node_->recovery().partitions;
  ASSERT_EQ(found.size(), 2U);
  ASSERT_TRUE(found[0].refused.has_value());
  EXPECT_TRUE(found[0].refused->is(node::Errc::kPartitionLost));
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups/1-1"));
  EXPECT_EQ(append(topic.partitions[1].ref, {"y"}), Offset(1));
}

TEST_F(NodeFailureTest, AMissingCatalogStopsTheStart) {
  create("a");
  stop();
  std::filesystem::remove_all(temporary_ / "data/groups/0-0");
  const auto refused = node::Node::open(node_options());
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(node::Errc::kDamagedDirectory));
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups/0-0"));
}

TEST_F(NodeFailureTest, ASecondNodeOnTheSameDirectoryIsRefused) {
  const auto second = node::Node::open(node_options());
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(second.error().is(storage::Errc::kLocked));
}

TEST_F(NodeFailureTest, DirectoriesTheCatalogHasForgottenGoAndUnknownOnesStay) {
  create("a");
  ASSERT_TRUE(client_->delete_topic({"s", "a"}));
  stop();
  std::filesystem::create_directory(temporary_ / "data/groups/1-1");
  std::filesystem::create_directory(temporary_ / "data/groups/9-99");
  start();
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups/1-1"));
  EXPECT_TRUE(std::filesystem::exists(temporary_ / "data/groups/9-99"));
  ASSERT_EQ(node_->recovery().unknown_directories.size(), 1U);
  EXPECT_TRUE(node_->recovery().unknown_directories.front().ends_with("9-99"));
}

TEST_F(NodeFailureTest, AFailedSyncEndsThePartitionAndTellsTheProcessOnce) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"acknowledged"});
  storage_.fail_syncs();
  const auto failed = client_->append(partition, batch_of({"lost"}));
  ASSERT_FALSE(failed.has_value());
  EXPECT_TRUE(failed.error().is(Errc::kFatal)) << failed.error().to_string();
  const auto later = client_->append(partition, batch_of({"later"}));
  ASSERT_FALSE(later.has_value());
  EXPECT_TRUE(later.error().is(Errc::kFatal));
  EXPECT_TRUE(client_->read(partition, {}).error().is(Errc::kFatal));
  EXPECT_EQ(fatal_calls_.load(), 1);
  const std::string text = fatal_->to_string();
  EXPECT_NE(text.find("s/a/0"), std::string::npos) << text;
  EXPECT_NE(text.find(".log"), std::string::npos) << text;
  EXPECT_NE(text.find("Input/output error"), std::string::npos) << text;
  EXPECT_FALSE(node_->close(std::chrono::seconds(60)).has_value());
}

TEST_F(NodeFailureTest, ACloseThatCannotFlushSaysSo) {
  const TopicInfo topic = create("a", {.enforce_fsync = false, .flush_interval = std::chrono::minutes(1)});
  restart();  // the catalog has nothing left to write
  append(topic.partitions.front().ref, {"in the page cache"});
  storage_.fail_syncs();
  const auto closed = node_->close(std::chrono::seconds(60));
  ASSERT_FALSE(closed.has_value());
  EXPECT_TRUE(closed.error().is(Errc::kFatal)) << closed.error().to_string();
}

TEST_F(NodeFailureTest, ACloseThatHangsEndsAtItsDeadline) {
  const PartitionRef partition = create("a").partitions.front().ref;
  storage_.hold_syncs();
  client_->append(partition, batch_of({"x"}), [](const Result<AppendResult>&) {});
  const auto closed = node_->close(std::chrono::milliseconds(20));
  storage_.release_syncs();
  ASSERT_FALSE(closed.has_value());
  EXPECT_TRUE(closed.error().is(sluice::Errc::kTimeout));
}

}  // namespace
}  // namespace sluice::client
