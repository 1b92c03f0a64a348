// SPDX-License-Identifier: Apache-2.0
// Processes that are really killed, and what the next one believes.
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "core/storage/errc.hpp"
#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

class WitnessTest : public ClientTest {
 protected:
  void SetUp() override {}  // each test opens its node itself

  void open(const std::optional<std::string>& runtime_dir) {
    node::NodeOptions options = node_options();
    options.runtime_dir = runtime_dir;
    auto node = node::Node::open(std::move(options));
    ASSERT_TRUE(node.has_value()) << node.error().to_string();
    node_ = *std::move(node);
    client_ = std::make_unique<Client>(*node_);
  }
  void open() { open(runtime_dir_); }

  // A process of its own opens the node, uses it, and gets a SIGKILL.
  void run_and_kill(const std::optional<std::string>& runtime_dir, const std::function<void()>& use) {
    ASSERT_EQ(node_, nullptr) << "a fork takes no threads along";
    const pid_t child = ::fork();
    if (child == 0) {
      open(runtime_dir);
      if (!HasFailure()) use();
      if (HasFailure()) ::_exit(1);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "what the process found is above";
  }
  void run_and_kill(const std::function<void()>& use) { run_and_kill(runtime_dir_, use); }
  // A topic with one partition and three records.
  void make_topic_and_kill(bool enforce_fsync = true) {
    run_and_kill([&] {
      create("t", {.partitions = 1, .enforce_fsync = enforce_fsync});
      EXPECT_EQ(append(partition(), {"a", "b", "c"}), Offset(3));
    });
  }

  [[nodiscard]] PartitionRef partition() {
    const auto info = client_->describe_topic({"s", "t"});
    EXPECT_TRUE(info.has_value()) << info.error().to_string();
    return info->partitions.front().ref;
  }
  [[nodiscard]] const log::RecoveryReport& report() const { return node_->recovery().partitions.at(0).report; }
  // Nothing is taken for granted: the offsets that may have been given out are not given out again.
  void expect_doubt() {
    EXPECT_FALSE(report().trusted);
    ASSERT_TRUE(report().mint_from.has_value());
    EXPECT_GE(append(partition(), {"after"}), *report().mint_from);
  }
  void expect_trust(Offset next) {
    EXPECT_TRUE(report().trusted);
    EXPECT_FALSE(report().mint_from.has_value());
    EXPECT_TRUE(node_->recovery().catalog.trusted || node_->recovery().catalog.clean);
    EXPECT_EQ(append(partition(), {"after"}), next);
    EXPECT_EQ(read_all(partition()).size(), next.value());
  }

  const test::TemporaryDirectory runtime_{test::kTmpfs};
  const std::string runtime_dir_ = runtime_.path();
};

TEST_F(WitnessTest, AfterAKillTheOffsetsGoOnWithoutAGap) {
  for (const bool enforce_fsync : {true, false}) {
    make_topic_and_kill(enforce_fsync);
    open();
    EXPECT_FALSE(report().clean);
    expect_trust(Offset(4));
    stop();
    std::filesystem::remove_all(temporary_ / "data");
  }
}

TEST_F(WitnessTest, OneKillAfterTheOtherCostsNoOffset) {
  make_topic_and_kill();
  run_and_kill([&] { expect_trust(Offset(4)); });
  run_and_kill([] {});
  run_and_kill([&] { EXPECT_TRUE(report().trusted || report().clean); });
  open();
  expect_trust(Offset(5));
}

// A producer that did not hear of its last request sends it again to the next process.
TEST_F(WitnessTest, ARequestWhoseAnswerDiedWithTheProcessIsStoredOnce) {
  const auto write = [this](std::uint64_t number, const std::string& payload) {
    AppendBatch batch = batch_of({payload});
    batch.set_request({ClientId{5, 6}, RequestNumber(number)});
    return client_->append(partition(), std::move(batch));
  };
  for (const bool enforce_fsync : {true, false}) {
    run_and_kill([&] {
      create("t", {.partitions = 1, .enforce_fsync = enforce_fsync});
      EXPECT_TRUE(write(1, "a").has_value());
      EXPECT_TRUE(write(2, "b").has_value());
    });
    open();
    const auto again = write(2, "b");
    ASSERT_TRUE(again.has_value()) << again.error().to_string();
    EXPECT_EQ(again->base_offset, Offset(1));
    EXPECT_TRUE(write(3, "c").has_value());
    EXPECT_EQ(read_all(partition()), (std::vector<std::string>{"a", "b", "c"}));
    stop();
    std::filesystem::remove_all(temporary_ / "data");
  }
}

TEST_F(WitnessTest, WithoutItAKillCountsAsAPowerCut) {
  make_topic_and_kill();
  std::filesystem::remove_all(runtime_dir_);
  open();
  expect_doubt();
}

TEST_F(WitnessTest, AnOlderCopyOfTheDataDoesNotReachIt) {
  run_and_kill([&] {
    create("t", {.partitions = 1});
    append(partition(), {"a"});
    std::filesystem::copy(temporary_ / "data", temporary_ / "older", std::filesystem::copy_options::recursive);
    append(partition(), {"b"});
  });
  std::filesystem::remove_all(temporary_ / "data");
  std::filesystem::rename(temporary_ / "older", temporary_ / "data");
  open();
  expect_doubt();
}

TEST_F(WitnessTest, OfAnEarlierLifeIsNotBelieved) {
  const std::vector<std::optional<std::string>> elsewhere{std::nullopt, runtime_dir_ + "/elsewhere"};
  for (const auto& other : elsewhere) {
    make_topic_and_kill();
    run_and_kill(other, [&] { append(partition(), {"d"}); });
    open();
    expect_doubt();
    stop();
    std::filesystem::remove_all(temporary_ / "data");
  }
}

TEST_F(WitnessTest, AKillDuringAStartCostsNoTrust) {
  for (const bool after : {false, true}) {
    make_topic_and_kill();
    storage_.kill_at_rename("data/generation", after);
    run_and_kill([] { FAIL() << "the start was to be killed"; });
    storage_.kill_at_rename("", false);
    open();
    expect_trust(Offset(4));
    stop();
    std::filesystem::remove_all(temporary_ / "data");
  }
}

TEST_F(WitnessTest, OfStartsThatWereKilledIsRemovedByTheNextOne) {
  make_topic_and_kill();
  for (int i = 0; i < 3; ++i) {
    storage_.kill_at_rename("data/generation", false);
    run_and_kill([] { FAIL() << "the start was to be killed"; });
  }
  storage_.kill_at_rename("", false);
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(runtime_dir_), {}); };
  EXPECT_EQ(files(), 4);
  open();
  EXPECT_EQ(files(), 1);
  expect_trust(Offset(4));
}

TEST_F(WitnessTest, ThatOthersMayHaveWrittenIsReportedAndNotBelieved) {
  make_topic_and_kill();
  for (const auto& file : std::filesystem::directory_iterator(runtime_dir_)) {
    std::filesystem::permissions(file.path(), std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  }
  open();
  const auto& reason = node_->recovery().witness_ignored;
  ASSERT_TRUE(reason.has_value());
  EXPECT_TRUE(reason->is(storage::Errc::kNoWitness)) << reason->to_string();
  expect_doubt();
}

TEST_F(WitnessTest, AKillBeforeTheGapIsThereLeavesTheDoubt) {
  make_topic_and_kill();
  std::filesystem::remove_all(runtime_dir_);
  storage_.kill_at_rename("data/generation", true);
  run_and_kill([] { FAIL() << "the start was to be killed"; });
  storage_.kill_at_rename("", false);
  open();
  expect_doubt();
}

TEST_F(WitnessTest, OfAPartitionThatCouldNotBeOpenedIsKept) {
  make_topic_and_kill();
  storage_.fail_opens("groups/1-");
  run_and_kill([&] { EXPECT_TRUE(node_->recovery().partitions.at(0).tried_again); });
  storage_.fail_opens("");
  open();
  expect_trust(Offset(4));
}

TEST_F(WitnessTest, IsGoneAfterACleanStop) {
  open();
  create("t", {.partitions = 1});
  append(partition(), {"a"});
  EXPECT_FALSE(std::filesystem::is_empty(runtime_dir_));
  stop();
  EXPECT_TRUE(std::filesystem::is_empty(runtime_dir_));
}

TEST_F(WitnessTest, ADirectoryThatIsNotOnATmpfsIsReportedAndNotUsed) {
  run_and_kill(temporary_ / "run", [&] {
    const auto& reason = node_->recovery().no_witness;
    EXPECT_TRUE(reason.has_value() && reason->is(storage::Errc::kNoWitness));
    create("t", {.partitions = 1});
    append(partition(), {"a"});
  });
  open(temporary_ / "run");
  expect_doubt();
}

}  // namespace
}  // namespace sluice::client
