// SPDX-License-Identifier: Apache-2.0
#include "core/node/group_host.hpp"

#include "core/node/errc.hpp"
#include "core/storage/posix_storage.hpp"
#include "core/storage/witness_file.hpp"
#include "tests/unit/core/node/host_fixture.hpp"
#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::node {
namespace {

using test::Change;
using test::MemoryStorage;

class GroupHostTest : public HostFixture {
 protected:
  void SetUp() override { host_.emplace(open_log(), machine_, clock_); }

  // Proposes without waiting for the disk.
  void propose(const std::string& payload, bool must_sync = false) {
    host_->propose(batch_of(payload), must_sync, [this](Result<Proposed> outcome) { outcomes_.push_back(std::move(outcome)); });
  }

  RecordingMachine machine_;
  std::vector<Result<Proposed>> outcomes_;
  std::optional<Result<Proposed>> proposed_;
  std::optional<Result<void>> closed_;
  std::optional<GroupHost> host_;
};

TEST_F(GroupHostTest, AFlushThatIsAskedForDuringAnotherCoversWhatCameMeanwhile) {
  propose("one");
  host_->flush();
  propose("two");
  host_->flush();  // the interval of the second one is over, the first sync is still on its way
  queue_.run_all();
  EXPECT_EQ(host_->log().unsynced_bytes(), 0U);
  EXPECT_EQ(outcomes_.size(), 2U);
}

TEST_F(GroupHostTest, IsDestroyedWhileACheckpointWaitsForItsSync) {
  propose("one");
  queue_.run_all();
  host_->request_checkpoint();
  queue_.run_one();  // reads the entry
  ASSERT_EQ(queue_.size(), 1U) << "the sync";
  host_.reset();
  EXPECT_TRUE(machine_.warnings.empty());
  EXPECT_TRUE(machine_.fenced.empty());
}

TEST_F(GroupHostTest, IsDestroyedWhileItsLastCheckpointWaitsForItsSync) {
  propose("one");
  queue_.run_all();
  host_->close(into(closed_));
  queue_.run_one();  // reads the entry
  ASSERT_EQ(queue_.size(), 1U) << "the sync";
  host_.reset();
  ASSERT_TRUE(closed_.has_value());
  EXPECT_TRUE(closed_->error().is(Errc::kStopped)) << closed_->error().to_string();
  EXPECT_TRUE(machine_.fenced.empty());
}

TEST_F(GroupHostTest, ClosesOnlyWhenEveryTrackedCallHasCompleted) {
  propose("one");
  queue_.run_all();
  std::optional<Result<log::ReadResult>> read;
  host_->log().read({.from = Offset(0), .up_to = Op(1), .cursor = {}}, host_->tracked<log::ReadResult>(into(read)));
  ASSERT_FALSE(read.has_value());
  host_->close(into(closed_));
  while (queue_.size() > 1) queue_.run_newest();
  EXPECT_FALSE(read.has_value());
  EXPECT_FALSE(closed_.has_value());
  queue_.run_all();
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->has_value());
  ASSERT_TRUE(closed_.has_value());
  EXPECT_TRUE(closed_->has_value());
}

TEST_F(GroupHostTest, AFencedOneClosesOnlyWhenItsCheckpointHasCompleted) {
  propose("one");
  queue_.run_all();
  host_->request_checkpoint();
  queue_.run_one();  // reads the entry
  queue_.run_one();  // syncs the log
  ASSERT_EQ(queue_.size(), 1U) << "the file is being written";
  storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, EIO};
  propose("two");  // written right here, and fails
  ASSERT_EQ(machine_.fenced.size(), 1U);
  ASSERT_EQ(outcomes_.size(), 2U);
  EXPECT_TRUE(outcomes_[1].error().is(Errc::kFatal));
  host_->close(into(closed_));
  EXPECT_FALSE(closed_.has_value());
  queue_.run_all();
  ASSERT_TRUE(closed_.has_value());
  EXPECT_TRUE(closed_->error().is(Errc::kFatal)) << closed_->error().to_string();
}

TEST_F(GroupHostTest, ACheckpointThatCannotBeWrittenIsAWarningAndNoFault) {
  propose("one");
  queue_.run_all();
  storage_.fault = MemoryStorage::Fault{Change::kRename, 1, EIO};
  host_->request_checkpoint();
  queue_.run_all();
  ASSERT_EQ(machine_.warnings.size(), 1U);
  EXPECT_NE(machine_.warnings.front().to_string().find("writing a checkpoint"), std::string::npos);
  EXPECT_FALSE(host_->fenced().has_value());
  propose("two");
  EXPECT_TRUE(outcomes_.back().has_value());
  host_->close(into(closed_));
  queue_.run_all();
  ASSERT_TRUE(closed_.has_value());
  EXPECT_TRUE(closed_->has_value());
}

TEST_F(GroupHostTest, ASegmentThatCannotBeRemovedIsAWarning) {
  for (int i = 0; i < 40; ++i) propose(std::string(500, 'x'));
  queue_.run_all();
  host_->request_checkpoint();
  queue_.run_all();
  storage_.fault = MemoryStorage::Fault{Change::kRemove, 1, EIO};
  host_->drop_before(Offset(40));
  queue_.run_all();
  ASSERT_EQ(machine_.warnings.size(), 1U);
  EXPECT_NE(machine_.warnings.front().to_string().find("removing old segments"), std::string::npos);
  host_->drop_before(Offset(40));
  queue_.run_all();
  EXPECT_EQ(machine_.warnings.size(), 1U);
  EXPECT_FALSE(storage_.exists(options().directory + "/" + log::segment_name(Op(1))));
}

TEST_F(GroupHostTest, TellsTheProcessOfAFailedSyncBeforeItAnswers) {
  std::optional<std::size_t> told;
  host_->propose(batch_of("lost"), true, [&](const Result<Proposed>& outcome) {
    EXPECT_FALSE(outcome.has_value());
    told = machine_.fenced.size();
  });
  storage_.fault = MemoryStorage::Fault{Change::kSync, 1, EIO};
  queue_.run_all();
  EXPECT_EQ(told, 1U) << "who hears of the failure may look for its cause at once";
}

TEST_F(GroupHostTest, TellsTheProcessBeforeItAsksTheFailingDeviceForMore) {
  propose("lost", true);
  storage_.fault = MemoryStorage::Fault{Change::kSync, 1, EIO};
  queue_.run_one();
  EXPECT_EQ(machine_.fenced.size(), 1U);
  EXPECT_EQ(queue_.size(), 1U) << "the mark, for which nobody waits";
  host_->close(into(closed_));
  ASSERT_TRUE(closed_.has_value()) << "nor for a last flush";
  EXPECT_TRUE(closed_->error().is(Errc::kFatal));
}

TEST_F(GroupHostTest, GoesOnWhenATruncationOvertakesItsFlush) {
  host_.reset();
  auto with = options();
  with.replicated = true;
  host_.emplace(open_log(with), machine_, clock_);
  propose("one");
  queue_.run_all();
  const log::LogHead kept = host_->log().head();
  propose("two");
  host_->flush();
  host_->flush();  // one more when the one under way has ended
  bool truncated = false;
  host_->log().truncate(kept.op, kept.id, [&](const Result<void>& outcome) { truncated = outcome.has_value(); });
  queue_.run_all();
  EXPECT_TRUE(truncated);
  EXPECT_FALSE(host_->fenced().has_value());
  EXPECT_TRUE(machine_.fenced.empty());
}

// Acknowledged bytes in the page cache that the last sync cannot save are no clean end.
TEST_F(GroupHostTest, AFailedSyncOfTheCloseFencesToo) {
  propose("one");
  queue_.run_all();
  host_->request_checkpoint();
  queue_.run_all();
  propose("two");
  storage_.fault = MemoryStorage::Fault{Change::kSync, 1, EIO};
  host_->close(into(closed_));
  queue_.run_all();
  ASSERT_TRUE(closed_.has_value());
  EXPECT_TRUE(closed_->error().is(Errc::kFatal)) << closed_->error().to_string();
  EXPECT_EQ(machine_.fenced.size(), 1U);
}

TEST_F(GroupHostTest, AFailedSyncAfterTheLastCheckpointFencesToo) {
  class WithoutCheckpoints final : public StateMachine {
   public:
    Result<void> apply(const entry::EntryView&) override { return {}; }
    [[nodiscard]] ByteVector encode_checkpoint() const override { return {}; }
    [[nodiscard]] bool may_checkpoint() const override { return false; }
    void on_warning(const Error&) override {}
    void on_fenced(const Error&) override { ++fenced; }
    int fenced = 0;
  };
  host_.reset();
  WithoutCheckpoints machine;
  GroupHost host(open_log(), machine, clock_);
  host.propose(batch_of("one"), false, [](const Result<Proposed>&) {});
  queue_.run_all();  // the offsets are reserved
  storage_.fault = MemoryStorage::Fault{Change::kSync, 1, EIO};
  host.close(into(closed_));
  queue_.run_all();
  ASSERT_TRUE(closed_.has_value());
  EXPECT_TRUE(closed_->error().is(Errc::kFatal)) << closed_->error().to_string();
  EXPECT_EQ(machine.fenced, 1);
}

// Nothing that was acknowledged is lost: no fault of the process.
TEST_F(GroupHostTest, ClosesOnAFullDiskWithoutWaitingForRoom) {
  for (const bool full_before : {true, false}) {
    storage_ = MemoryStorage();
    outcomes_.clear();
    closed_.reset();
    host_.emplace(open_log(), machine_, clock_);
    propose("one");
    queue_.run_all();
    std::optional<Result<log::ReadResult>> read;
    host_->log().read({.from = Offset(0), .up_to = Op(1), .cursor = {}}, host_->tracked<log::ReadResult>(into(read)));
    if (!full_before) host_->propose(batch_of("two"), true, into(proposed_));
    storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
    if (full_before) host_->propose(batch_of("two"), false, into(proposed_));
    if (full_before) storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
    host_->close(into(closed_));
    while (queue_.size() > 1) queue_.run_newest();
    ASSERT_FALSE(closed_.has_value()) << "the read is under way";
    queue_.run_all();
    ASSERT_TRUE(proposed_.has_value());
    EXPECT_TRUE(proposed_->error().is(log::Errc::kStorageFull)) << proposed_->error().to_string();
    ASSERT_TRUE(closed_.has_value());
    EXPECT_TRUE(closed_->error().is(log::Errc::kStorageFull)) << closed_->error().to_string();
    EXPECT_TRUE(machine_.fenced.empty());
    host_.reset();
    proposed_.reset();
    EXPECT_EQ(open_log()->head().op, Op(1));
  }
}

TEST_F(GroupHostTest, ACheckpointThatWaitsForTheFullDiskEndsWithTheClose) {
  propose("one");
  queue_.run_all();
  storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
  propose("two");
  host_->flush();  // of the one that waits too
  host_->request_checkpoint();
  queue_.run_one();
  storage_.fault = MemoryStorage::Fault{Change::kWrite, 1, ENOSPC};
  host_->close(into(closed_));
  queue_.run_all();
  ASSERT_TRUE(closed_.has_value());
  EXPECT_TRUE(closed_->error().is(log::Errc::kStorageFull)) << closed_->error().to_string();
  EXPECT_TRUE(machine_.fenced.empty());
}

// What a process that is killed inside the call would leave in the file.
std::vector<storage::WitnessRecord> records_now(const std::string& path, const storage::WitnessHeader& run) {
  const auto bytes = storage::read_file(storage::posix_storage(), path, storage::kWitnessFileBytes);
  EXPECT_TRUE(bytes.has_value());
  return storage::decode_witness_file(*bytes, run);
}

TEST_F(GroupHostTest, StoresTheWitnessBeforeItAnswers) {
  const test::TemporaryDirectory runtime_dir(test::kTmpfs);
  constexpr storage::WitnessHeader kRun{{1, 2}, {3, 4}};
  const auto file = storage::WitnessFile::create(runtime_dir.path(), kRun);
  ASSERT_TRUE(file.has_value()) << file.error().to_string();
  host_.reset();
  host_.emplace(open_log(), machine_, clock_, (*file)->claim(GroupId(1), Incarnation(1)));
  int answers = 0;
  for (const bool must_sync : {true, true, false, true}) {
    host_->propose(batch_of("payload"), must_sync, [&](const Result<Proposed>& outcome) {
      ++answers;
      const auto records = records_now((*file)->path(), kRun);
      ASSERT_EQ(records.size(), 1U);
      EXPECT_GE(records[0].op, outcome->op);
    });
  }
  EXPECT_TRUE(records_now((*file)->path(), kRun).empty()) << "nothing is acknowledged yet";
  queue_.run_all();
  EXPECT_EQ(answers, 4);
}

}  // namespace
}  // namespace sluice::node
