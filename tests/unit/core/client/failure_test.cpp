// SPDX-License-Identifier: Apache-2.0
// What a node does when something is broken: damaged, missing and foreign files, failing devices, sudden ends.
#include <algorithm>
#include <fstream>
#include <future>

#include "core/log/frontier.hpp"
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
  // Without a witness nobody knows what else was acknowledged: offsets go on behind all that were reserved.
  EXPECT_EQ(append(synced, {"more"}), Offset(log::kLimitBlock + 1));
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

// What the catalog's checkpoint witnesses was there: whatever takes its place, it is not the beginning of a log.
TEST_F(NodeFailureTest, AnEmptiedPartitionDirectoryIsNotStartedAnew) {
  const TopicInfo topic = create("a", {.partitions = 2});
  append(topic.partitions[0].ref, {"x"});
  append(topic.partitions[1].ref, {"x"});
  stop();
  for (const auto& file : std::filesystem::directory_iterator(temporary_ / "data/groups/1-1")) std::filesystem::remove(file);
  std::filesystem::remove(temporary_ / "data/groups/2-1/checkpoint");
  std::filesystem::resize_file(temporary_ / "data/groups/2-1/00000000000000000001.log", 0);
  for (int starts = 0; starts < 2; ++starts) {
    start();
    for (const auto& found : node_->recovery().partitions) {
      ASSERT_TRUE(found.refused.has_value()) << found.directory;
      EXPECT_EQ(found.refused->code(), "log.hole") << found.refused->to_string();
    }
    EXPECT_TRUE(client_->append(topic.partitions[0].ref, batch_of({"y"})).error().is(Errc::kPartitionRefused));
    EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups/1-1/00000000000000000001.log"));
    stop();
  }
}

TEST_F(NodeFailureTest, AnEmptiedCatalogStopsTheStart) {
  create("a");
  stop();
  for (const auto& file : std::filesystem::directory_iterator(temporary_ / "data/groups/0-0")) std::filesystem::remove(file);
  for (int starts = 0; starts < 2; ++starts) {
    const auto refused = node::Node::open(node_options());
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), "log.hole") << refused.error().to_string();
  }
  EXPECT_TRUE(std::filesystem::exists(temporary_ / "data/groups/1-1"));
}

TEST_F(NodeFailureTest, DirectoriesTheCatalogHasForgottenGo) {
  create("a");
  ASSERT_TRUE(client_->delete_topic({"s", "a"}));
  stop();
  std::filesystem::create_directory(temporary_ / "data/groups/1-1");
  start();
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups/1-1"));
}

// It has lost commands, and what it would hand out next is taken: served by the next topic, or thrown away as forgotten.
TEST_F(NodeFailureTest, ADirectoryThatIsNewerThanTheCatalogStopsEveryStart) {
  create("a");
  create("b");
  ASSERT_TRUE(client_->delete_topic({"s", "a"}));
  stop();
  std::filesystem::create_directory(temporary_ / "data/groups/1-1");  // forgotten: it would go
  std::filesystem::create_directory(temporary_ / "data/groups/3-4");
  for (int starts = 0; starts < 3; ++starts) {
    const auto refused = node::Node::open(node_options());
    ASSERT_FALSE(refused.has_value());
    EXPECT_TRUE(refused.error().is(node::Errc::kDamagedDirectory));
    EXPECT_NE(refused.error().message().find("groups/3-4"), std::string::npos) << refused.error().message();
    EXPECT_TRUE(std::filesystem::exists(temporary_ / "data/groups/3-4"));
    EXPECT_TRUE(std::filesystem::exists(temporary_ / "data/groups/1-1"));
  }
  std::filesystem::remove(temporary_ / "data/groups/3-4");
  start();
  EXPECT_EQ(node_->recovery().partitions.size(), 1U);
}

// Of the very group and incarnation that the new topic gets.
TEST_F(NodeFailureTest, ANewTopicDoesNotServeWhatLiesInItsPlace) {
  create("a");
  stop();  // else a file that is just replaced is missing when its turn comes
  std::filesystem::copy(temporary_ / "data", temporary_ / "before", std::filesystem::copy_options::recursive);
  start();
  append(create("b").partitions.front().ref, {"of another topic"});
  stop();
  start("before");
  std::filesystem::copy(temporary_ / "data/groups/2-2", temporary_ / "before/groups/2-2");
  const auto made = client_->create_topic({"s", "c"}, {});
  ASSERT_FALSE(made.has_value());
  EXPECT_TRUE(made.error().is(Errc::kPartitionRefused)) << made.error().to_string();
  EXPECT_NE(made.error().message().find("groups/2-2"), std::string::npos) << made.error().message();
  const auto topic = client_->describe_topic({"s", "c"});
  ASSERT_TRUE(topic.has_value());
  EXPECT_TRUE(client_->read(topic->partitions.front().ref, {}).error().is(Errc::kPartitionRefused));
  EXPECT_FALSE(warnings().empty());
}

TEST_F(NodeFailureTest, AHalfFailedCreationIsFinishedWhenTheCauseIsGone) {
  storage_.fail_opens("groups/2-1/");
  const auto made = client_->create_topic({"s", "a"}, {.partitions = 2});
  ASSERT_FALSE(made.has_value());
  EXPECT_TRUE(made.error().is(node::Errc::kPartitionUnavailable)) << made.error().to_string();
  EXPECT_EQ(made.error().kind(), ErrorKind::kRetry);
  EXPECT_EQ(node_->warnings(), 1U);
  const TopicInfo topic = *client_->describe_topic({"s", "a"});
  EXPECT_EQ(append(topic.partitions[0].ref, {"x"}), Offset(1));
  EXPECT_TRUE(client_->read(topic.partitions[1].ref, {}).error().is(node::Errc::kPartitionUnavailable));
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups/0-0/checkpoint")) << "it would witness a directory that is not there";
  storage_.fail_opens("");
  wait_until([&] { return client_->append(topic.partitions[1].ref, batch_of({"x"})).has_value(); });
  EXPECT_FALSE(client_->describe_topic({"s", "a"})->partitions[1].refused.has_value());
  wait_until([&] { return std::filesystem::exists(temporary_ / "data/groups/0-0/checkpoint"); });
  restart();
  EXPECT_EQ(read_all(topic.partitions[1].ref).size(), 1U);
}

TEST_F(NodeFailureTest, ATopicThatCouldNotBeMadeCanBeDeleted) {
  storage_.fail_opens("groups/1-1/");
  ASSERT_FALSE(client_->create_topic({"s", "a"}, {}).has_value());
  ASSERT_TRUE(client_->delete_topic({"s", "a"}).has_value());
  wait_until([&] { return std::filesystem::exists(temporary_ / "data/groups/0-0/checkpoint"); });
  storage_.fail_opens("");
  EXPECT_FALSE(client_->describe_topic({"s", "a"}).has_value());
  EXPECT_EQ(append(create("a").partitions.front().ref, {"x"}), Offset(1));
}

TEST_F(NodeFailureTest, APartitionThatCannotBeOpenedAtTheStartIsTriedAgain) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"x"});
  stop();
  storage_.fail_opens("groups/1-1/");
  start();
  ASSERT_EQ(node_->recovery().partitions.size(), 1U);
  EXPECT_TRUE(node_->recovery().partitions.front().tried_again);
  EXPECT_TRUE(client_->read(partition, {}).error().is(node::Errc::kPartitionUnavailable));
  storage_.fail_opens("");
  wait_until([&] { return client_->read(partition, {}).has_value(); });
  EXPECT_EQ(read_all(partition).size(), 1U);
}

TEST_F(NodeFailureTest, FilesThatCannotBeRemovedAreAWarning) {
  create("a");
  storage_.fail_removals("/trash/");
  ASSERT_TRUE(client_->delete_topic({"s", "a"}).has_value());
  wait_until([&] { return node_->warnings() > 0; });
  EXPECT_NE(warnings().front().to_string().find("trash/1-1"), std::string::npos) << warnings().front().to_string();
  storage_.fail_renames("/trash/");
  create("b");
  ASSERT_TRUE(client_->delete_topic({"s", "b"}).has_value()) << "the topic is gone, whatever becomes of its files";
  EXPECT_FALSE(client_->describe_topic({"s", "b"}).has_value());
  EXPECT_TRUE(std::ranges::any_of(warnings(), [](const Error& error) { return error.to_string().contains("s/b/0"); }));
  storage_.fail_removals("");
  storage_.fail_renames("");
  restart();
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups/2-3"));
}

// Both ways round: the partition is closed once, and nobody waits for ever.
TEST_F(NodeFailureTest, ACloseDuringADeletionIsClean) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"x"});
  storage_.hold_syncs();
  std::atomic<int> answers{0};
  node_->propose(metadata::DeleteTopic{{"s", "a"}}, [&](const Result<void>&) { answers.fetch_add(1); });
  {
    const std::jthread closer([&] {
      const auto closed = node_->close(std::chrono::seconds(60));
      EXPECT_TRUE(closed.has_value()) << closed.error().to_string();
    });
    wait_until([&] {
      const auto read = client_->read(partition, {});
      return !read && read.error().is(Errc::kStopped);
    });
    storage_.release_syncs();
  }
  EXPECT_EQ(answers.load(), 1);
  restart();
  EXPECT_FALSE(client_->describe_topic({"s", "a"}).has_value());
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups/1-1"));
}

TEST_F(NodeFailureTest, ACloseDuringACreationIsClean) {
  const PartitionRef other = create("other").partitions.front().ref;
  storage_.hold_syncs();
  std::atomic<int> answers{0};
  node_->propose(metadata::CreateTopic{{"s", "a"}, {.partitions = 8}, View(0)}, [&](const Result<void>&) { answers.fetch_add(1); });
  {
    const std::jthread closer([&] {
      const auto closed = node_->close(std::chrono::seconds(60));
      EXPECT_TRUE(closed.has_value()) << closed.error().to_string();
    });
    wait_until([&] {
      const auto read = client_->read(other, {});
      return !read && read.error().is(Errc::kStopped);
    });
    storage_.release_syncs();
  }
  EXPECT_EQ(answers.load(), 1);
  restart();
  const auto topic = client_->describe_topic({"s", "a"});
  ASSERT_TRUE(topic.has_value());
  for (const PartitionInfo& partition : topic->partitions) EXPECT_EQ(append(partition.ref, {"x"}), Offset(1));
}

TEST_F(NodeFailureTest, OperationsBeyondTheLimitAreToldToComeBack) {
  const PartitionRef partition = create("a").partitions.front().ref;
  storage_.hold_syncs();
  std::atomic<std::uint32_t> done{0};
  std::atomic<std::uint32_t> busy{0};
  for (std::uint32_t i = 0; i < node::kPendingOpsMax + 5; ++i) {
    node_->propose(partition.group, partition::BeginSource{"source"}, [&](const Result<node::PartitionView>& outcome) {
      if (outcome) {
        done.fetch_add(1);
      } else if (outcome.error().is(Errc::kBusy)) {
        busy.fetch_add(1);
      }
    });
  }
  EXPECT_EQ(busy.load(), 5U);
  storage_.release_syncs();
  wait_until([&] { return done.load() == node::kPendingOpsMax; });
  EXPECT_TRUE(client_->begin_source(partition, "source").has_value());
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
  EXPECT_EQ(fatal_calls_.load(), 1) << "acknowledged records are lost: that is no clean end";
}

TEST_F(NodeFailureTest, ATopicWithAnAppendThatWaitsOnAFullDiskIsDeleted) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"x"});
  storage_.fill_up(fmt::format("groups/{}-", partition.group));
  std::promise<Error> waiting;
  client_->append(partition, batch_of({"y"}), [&](Result<AppendResult> stored) { waiting.set_value(stored.error()); });
  wait_until([this] { return !warnings().empty(); });
  ASSERT_TRUE(client_->delete_topic({"s", "a"}));
  const Error told = waiting.get_future().get();
  EXPECT_TRUE(told.is(log::Errc::kStorageFull)) << told.to_string();
  EXPECT_FALSE(std::filesystem::exists(temporary_ / fmt::format("data/groups/{}-1", partition.group)));
  EXPECT_EQ(fatal_calls_, 0);
}

TEST_F(NodeFailureTest, ADiskThatFillsUpStopsMessagesFirstAndOpensAgainByItself) {
  constexpr std::uint64_t kMebibyte = 1ULL << 20;
  const auto left = [&](std::uint64_t mebibytes) { storage_.say_room(storage::Space{mebibytes * kMebibyte, 100ULL << 30}); };
  const std::string reserve = temporary_ / "data/reserve";
  left(1000);
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"x"});
  wait_until([&] { return std::filesystem::exists(reserve); });
  EXPECT_GT(std::filesystem::file_size(reserve), 0U);
  ASSERT_TRUE(client_->begin_assignment(partition, "sink", Offset(0)).has_value());
  left(60);
  wait_until([&] { return !client_->storage_room().takes_messages; });
  EXPECT_TRUE(client_->append(partition, batch_of({"y"})).error().is(log::Errc::kStorageFull));
  EXPECT_TRUE(client_->commit(partition, "sink", Epoch(1), Offset(1), {.delivered = 1}).has_value());
  left(10);
  wait_until([&] { return !client_->storage_room().takes_operations && !std::filesystem::exists(reserve); });
  EXPECT_TRUE(client_->commit(partition, "sink", Epoch(1), Offset(1), {.delivered = 1}).error().is(log::Errc::kStorageFull));
  EXPECT_TRUE(client_->create_topic({"s", "b"}, {}).error().is(log::Errc::kStorageFull));
  EXPECT_EQ(read_all(partition), std::vector<std::string>{"x"});
  EXPECT_TRUE(client_->delete_topic({"s", "a"}).has_value()) << "it makes room";
  wait_until([this] { return warnings().size() == 2; });
  for (const Error& warning : warnings()) EXPECT_TRUE(warning.is(log::Errc::kStorageFull)) << warning.to_string();
  left(1000);
  wait_until([&] { return client_->storage_room().takes_messages && std::filesystem::exists(reserve); });
  append(create("c").partitions.front().ref, {"z"});
}

// Also on a disk with no room for a new one.
TEST_F(NodeFailureTest, AStartOnAFullDiskFindsItsReserve) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"x"});
  const std::string reserve = temporary_ / "data/reserve";
  ASSERT_TRUE(std::filesystem::exists(reserve));
  stop();
  storage_.say_room(storage::Space{0, 100ULL << 30});
  start();
  EXPECT_FALSE(client_->storage_room().takes_messages);
  EXPECT_FALSE(std::filesystem::exists(reserve)) << "checkpoints need it";
  EXPECT_EQ(read_all(partition), std::vector<std::string>{"x"});
  EXPECT_TRUE(client_->append(partition, batch_of({"y"})).error().is(log::Errc::kStorageFull));
}

TEST_F(NodeFailureTest, ACloseOnAFullDiskWaitsForNoRoomAndLosesNothing) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"x"});
  storage_.fill_up(fmt::format("groups/{}-", partition.group));
  std::promise<Error> waiting;
  client_->append(partition, batch_of({"y"}), [&](Result<AppendResult> stored) { waiting.set_value(stored.error()); });
  wait_until([this] { return !warnings().empty(); });
  const auto closed = node_->close(std::chrono::hours(1));
  ASSERT_FALSE(closed.has_value());
  EXPECT_TRUE(closed.error().is(log::Errc::kStorageFull)) << closed.error().to_string();
  EXPECT_TRUE(waiting.get_future().get().is(log::Errc::kStorageFull));
  EXPECT_EQ(fatal_calls_, 0) << "nothing that was acknowledged is lost";
  storage_.fill_up("");
  restart();
  EXPECT_EQ(read_all(partition), std::vector<std::string>{"x"});
}

TEST_F(NodeFailureTest, ACloseThatHangsEndsAtItsDeadline) {
  const PartitionRef partition = create("a").partitions.front().ref;
  storage_.hold_syncs();
  client_->append(partition, batch_of({"x"}), [](const Result<AppendResult>&) {});
  const auto closed = node_->close(std::chrono::milliseconds(20));
  storage_.release_syncs();
  ASSERT_FALSE(closed.has_value());
  EXPECT_TRUE(closed.error().is(sluice::Errc::kTimeout));
  EXPECT_NE(closed.error().message().find("s/a/0"), std::string::npos) << closed.error().message();
}

}  // namespace
}  // namespace sluice::client
