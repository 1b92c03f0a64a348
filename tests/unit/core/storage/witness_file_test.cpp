// SPDX-License-Identifier: Apache-2.0
#include "core/storage/witness_file.hpp"

#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/storage/errc.hpp"
#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr WitnessHeader kRun{{1, 2}, {3, 4}};
constexpr WitnessHeader kOtherRun{{1, 2}, {5, 6}};

constexpr WitnessRecord record_of(std::uint64_t group, std::uint64_t op) {
  return {GroupId(group), Incarnation(1), Op(op), {op, group}, Op(op)};
}

class WitnessFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<WitnessFile> create(const WitnessHeader& run = kRun) const {
    auto file = WitnessFile::create(root_, run);
    EXPECT_TRUE(file.has_value()) << file.error().to_string();
    return *std::move(file);
  }
  [[nodiscard]] std::vector<WitnessRecord> read(const WitnessHeader& run = kRun) const {
    auto records = WitnessFile::read(root_, run);
    EXPECT_TRUE(records.has_value()) << records.error().to_string();
    return *std::move(records);
  }

  test::TemporaryDirectory directory_{test::kTmpfs};
  std::string root_ = directory_.path();
};

TEST_F(WitnessFileTest, LeavesTheNewestRecordOfEachGroupToTheNextProcess) {
  auto file = create();
  for (std::uint64_t group = 0; group < 100; ++group) {
    WitnessCell* cell = file->claim(GroupId(group), Incarnation(1));
    ASSERT_NE(cell, nullptr);
    for (std::uint64_t op = 0; op <= group; ++op) cell->store(record_of(group, op));
  }
  file.reset();
  const auto records = read();
  ASSERT_EQ(records.size(), 100U);
  for (const WitnessRecord& record : records) EXPECT_EQ(record, record_of(record.group.value(), record.group.value()));
}

TEST_F(WitnessFileTest, HasWhatAKilledProcessStored) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = WitnessFile::create(root_, kRun);
    if (file) (*file)->claim(GroupId(1), Incarnation(1))->store(record_of(1, 9));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(read(), ElementsAre(record_of(1, 9)));
}

TEST_F(WitnessFileTest, HasTheRecordBeforeOneThatAKillHasTorn) {
  auto file = create();
  WitnessCell* cell = file->claim(GroupId(1), Incarnation(1));
  cell->store(record_of(1, 8));
  cell->store(record_of(1, 9));
  const std::string path = file->path();
  file.reset();
  ASSERT_THAT(read(), ElementsAre(record_of(1, 9)));
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(kWitnessHeaderBytes + 24).put('\x7f');  // the second record is in the first slot
  bytes.close();
  EXPECT_THAT(read(), ElementsAre(record_of(1, 8)));
}

TEST_F(WitnessFileTest, IsNotReadWhileItsProcessLivesNorRemoved) {
  auto file = create();
  file->claim(GroupId(1), Incarnation(1))->store(record_of(1, 1));
  EXPECT_THAT(read(), IsEmpty());
  WitnessFile::remove_others(root_, kOtherRun);
  file.reset();
  EXPECT_THAT(read(), ElementsAre(record_of(1, 1)));
  WitnessFile::remove_others(root_, kRun);
  EXPECT_THAT(read(), ElementsAre(record_of(1, 1))) << "it is the one that counts";
  WitnessFile::remove_others(root_, kOtherRun);
  EXPECT_TRUE(std::filesystem::is_empty(root_));
}

TEST_F(WitnessFileTest, RemovesWhatEveryDeadRunOfItsClusterLeftAndNothingElse) {
  constexpr WitnessHeader kForeign{{9, 9}, {3, 4}};
  (void)create();
  (void)create({{1, 2}, {7, 8}});
  (void)create(kForeign);
  const auto live = create({{1, 2}, {9, 10}});
  const auto own = create(kOtherRun);
  const std::string stranger = root_ + "/" + to_hex(kRun.cluster) + "-notes.witness";
  std::ofstream(stranger) << "not ours";
  WitnessFile::remove_others(root_, kOtherRun);
  std::vector<std::string> left;
  for (const auto& file : std::filesystem::directory_iterator(root_)) left.push_back(file.path().string());
  EXPECT_THAT(left, UnorderedElementsAre(live->path(), own->path(), stranger,
                                         root_ + "/" + to_hex(kForeign.cluster) + "-" + to_hex(kForeign.generation) + ".witness"));
}

TEST_F(WitnessFileTest, OfAnotherRunSaysNothing) {
  create()->claim(GroupId(1), Incarnation(1))->store(record_of(1, 1));
  EXPECT_THAT(read(kOtherRun), IsEmpty());
  std::filesystem::rename(root_ + "/" + std::filesystem::directory_iterator(root_)->path().filename().string(), create(kOtherRun)->path());
  EXPECT_THAT(read(kOtherRun), IsEmpty()) << "a file under the other's name";
}

TEST_F(WitnessFileTest, GivesAReleasedCellToAnotherGroup) {
  auto file = create();
  WitnessCell* first = file->claim(GroupId(1), Incarnation(1));
  first->store(record_of(1, 5));
  file->claim(GroupId(2), Incarnation(1))->store(record_of(2, 6));
  EXPECT_EQ(file->claim(GroupId(1), Incarnation(1)), first);
  file->release(GroupId(1), Incarnation(1));
  file->release(GroupId(1), Incarnation(1));
  WitnessCell* third = file->claim(GroupId(3), Incarnation(1));
  EXPECT_EQ(third, first);
  file.reset();
  EXPECT_THAT(read(), ElementsAre(record_of(2, 6))) << "the third stored nothing";
}

TEST_F(WitnessFileTest, HasNoCellForMoreThanItsMaximumOfGroups) {
  auto file = create();
  for (std::size_t i = 0; i < kWitnessGroupsMax; ++i) ASSERT_NE(file->claim(GroupId(i), Incarnation(1)), nullptr) << i;
  EXPECT_EQ(file->claim(GroupId(kWitnessGroupsMax), Incarnation(1)), nullptr);
  file->claim(GroupId(kWitnessGroupsMax - 1), Incarnation(1))->store(record_of(kWitnessGroupsMax - 1, 3));
  file.reset();
  EXPECT_THAT(read(), ElementsAre(record_of(kWitnessGroupsMax - 1, 3)));
}

TEST_F(WitnessFileTest, TakesOnlyThePagesThatItsGroupsNeed) {
  auto file = create();
  EXPECT_NE(file->claim(GroupId(1), Incarnation(1)), nullptr);
  struct stat status{};
  ASSERT_EQ(::stat(file->path().c_str(), &status), 0);
  EXPECT_EQ(static_cast<std::size_t>(status.st_size), kWitnessFileBytes);
  EXPECT_LE(status.st_blocks * 512, 64 * 1024);
}

TEST_F(WitnessFileTest, MakesTheDirectoryForItselfAlone) {
  root_ += "/made";
  const auto file = create();
  struct stat status{};
  ASSERT_EQ(::stat(root_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST_F(WitnessFileTest, RefusesADirectoryThatOutlivesTheSystem) {
  const test::TemporaryDirectory directory;
  const auto created = WitnessFile::create(directory.path(), kRun);
  const auto read = WitnessFile::read(directory.path(), kRun);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  ASSERT_FALSE(created.has_value());
  EXPECT_TRUE(created.error().is(Errc::kNoWitness)) << created.error().to_string();
  ASSERT_FALSE(read.has_value());
  EXPECT_TRUE(read.error().is(Errc::kNoWitness));
}

TEST_F(WitnessFileTest, RefusesADirectoryThatAnybodyMayWriteTo) {
  ASSERT_EQ(::chmod(root_.c_str(), 01777), 0);
  const auto created = WitnessFile::create(root_, kRun);
  ASSERT_FALSE(created.has_value());
  EXPECT_TRUE(created.error().is(Errc::kNoWitness)) << created.error().to_string();
}

TEST_F(WitnessFileTest, RefusesADirectoryThatAForeignGroupMayWriteTo) {
  ASSERT_EQ(::chmod(root_.c_str(), 0770), 0);
  // Only root gives a directory to a group that it is not in.
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(root_.c_str(), ::geteuid(), ::getegid() + 4711), 0);
    const auto created = WitnessFile::create(root_, kOtherRun);
    ASSERT_FALSE(created.has_value());
    EXPECT_TRUE(created.error().is(Errc::kNoWitness)) << created.error().to_string();
    ASSERT_EQ(::chmod(root_.c_str(), 0750), 0);
    EXPECT_TRUE(WitnessFile::create(root_, kRun).has_value()) << "it may look";
    ASSERT_EQ(::chown(root_.c_str(), ::geteuid(), ::getegid()), 0);
    ASSERT_EQ(::chmod(root_.c_str(), 0770), 0);
  }
  EXPECT_TRUE(WitnessFile::create(root_, kOtherRun).has_value()) << "its own group";
}

TEST_F(WitnessFileTest, DoesNotBelieveAFileThatOthersMayWriteTo) {
  auto file = create();
  file->claim(GroupId(1), Incarnation(1))->store(record_of(1, 1));
  const std::string path = file->path();
  file.reset();
  for (const mode_t mode : {0666U, 0620U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const auto found = WitnessFile::read(root_, kRun);
    ASSERT_FALSE(found.has_value());
    EXPECT_TRUE(found.error().is(Errc::kNoWitness)) << found.error().to_string();
    EXPECT_THAT(found.error().message(), testing::HasSubstr(path));
  }
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_THAT(read(), ElementsAre(record_of(1, 1)));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path.c_str(), 4711, ::getegid()), 0);
  EXPECT_FALSE(WitnessFile::read(root_, kRun).has_value());
}

}  // namespace
}  // namespace sluice::storage
