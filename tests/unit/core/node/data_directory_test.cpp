// SPDX-License-Identifier: Apache-2.0
#include "core/node/data_directory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "core/node/errc.hpp"
#include "core/storage/errc.hpp"
#include "core/storage/posix_storage.hpp"
#include "tests/unit/core/log/memory_storage.hpp"
#include "tests/unit/core/node/node_fixture.hpp"

namespace sluice::node {
namespace {

class DataDirectoryTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<DataDirectory> open() { return DataDirectory::open(storage::posix_storage(), temporary_ / "data", random_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(temporary_ / ("data/" + name)) << text; }

  TemporaryDirectory temporary_;
  SeededRandom random_{1};
};

TEST_F(DataDirectoryTest, KeepsItsClusterIdFromTheFirstStartOn) {
  U128 cluster;
  {
    auto directory = open();
    ASSERT_TRUE(directory.has_value()) << directory.error().to_string();
    EXPECT_TRUE(directory->is_new());
    ASSERT_TRUE(directory->finish_format());
    EXPECT_FALSE(directory->is_new());
    cluster = directory->cluster_id();
  }
  const auto again = open();
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_FALSE(again->is_new());
  EXPECT_EQ(again->cluster_id(), cluster);
}

TEST_F(DataDirectoryTest, AnInterruptedFirstStartIsRepeated) {
  {
    const auto directory = open();
    ASSERT_TRUE(directory.has_value());
    std::filesystem::create_directory(directory->group_path({kMetadataGroup, Incarnation(0)}));
    write("format.staging", "for");
  }
  const auto again = open();
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_TRUE(again->is_new());
}

TEST_F(DataDirectoryTest, ASecondOpenIsRefusedNamingTheHolder) {
  const auto first = open();
  ASSERT_TRUE(first.has_value());
  const auto second = open();
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(second.error().is(storage::Errc::kLocked));
  EXPECT_NE(second.error().message().find(std::to_string(::getpid())), std::string::npos) << second.error().message();
}

TEST_F(DataDirectoryTest, ANewerFormatIsRefusedNamingBothNumbers) {
  std::filesystem::create_directory(temporary_ / "data");
  write("format", "format = 7\ncluster = 8d0c3a5be2f14f6d9b1e7a2c4d5f6071\n");
  const auto refused = open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kNewerFormat));
  EXPECT_NE(refused.error().message().find("version 7"), std::string::npos);
  EXPECT_NE(refused.error().message().find("up to 1"), std::string::npos);
}

TEST_F(DataDirectoryTest, ADamagedFormatFileIsRefused) {
  std::filesystem::create_directory(temporary_ / "data");
  for (const char* text :
       {"", "format = \n", "format = 0\ncluster = 8d0c3a5be2f14f6d9b1e7a2c4d5f6071\n", "format = 1\n", "format = 1\ncluster = xyz\n"}) {
    write("format", text);
    const auto refused = open();
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_TRUE(refused.error().is(Errc::kDamagedDirectory)) << refused.error().to_string();
  }
}

TEST_F(DataDirectoryTest, ADirectoryWithForeignFilesIsLeftAlone) {
  std::filesystem::create_directory(temporary_ / "data");
  write("thesis.txt", "text");
  const auto refused = open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kForeignDirectory));
  EXPECT_NE(refused.error().message().find("thesis.txt"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/groups"));
}

TEST_F(DataDirectoryTest, PartitionsWithoutAFormatFileAreNotFormattedOver) {
  std::filesystem::create_directories(temporary_ / "data/groups/3-9");
  const auto refused = open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kDamagedDirectory));
}

TEST_F(DataDirectoryTest, TrashTakesAGroupsFilesAway) {
  const auto directory = open();
  ASSERT_TRUE(directory.has_value());
  const GroupDirectory group{GroupId(3), Incarnation(9)};
  std::filesystem::create_directory(directory->group_path(group));
  std::filesystem::create_directory(temporary_ / "data/groups/not-a-group");
  write("groups/3-9/00000000000000000001.log", "x");
  EXPECT_EQ(*directory->list_groups(), std::vector{group});
  ASSERT_TRUE(directory->move_to_trash(group));
  EXPECT_TRUE(directory->list_groups()->empty());
  EXPECT_TRUE(std::filesystem::exists(temporary_ / "data/trash/3-9"));
  EXPECT_TRUE(directory->empty_trash().empty());
  EXPECT_TRUE(std::filesystem::is_empty(temporary_ / "data/trash"));
}

TEST_F(DataDirectoryTest, AGroupIsInTheTrashDurably) {
  TroubledStorage storage;
  const auto directory = DataDirectory::open(storage, temporary_ / "data", random_);
  ASSERT_TRUE(directory.has_value()) << directory.error().to_string();
  const GroupDirectory group{GroupId(3), Incarnation(9)};
  std::filesystem::create_directory(directory->group_path(group));
  const std::size_t before = storage.synced_directories().size();
  ASSERT_TRUE(directory->move_to_trash(group));
  const std::vector<std::string> synced = storage.synced_directories();
  const std::vector<std::string> wanted{temporary_ / "data/groups", temporary_ / "data/trash"};
  EXPECT_EQ(std::vector(synced.begin() + static_cast<std::ptrdiff_t>(before), synced.end()), wanted);
}

TEST_F(DataDirectoryTest, WhatCannotBeRemovedFromTrashKeepsNothingElseThere) {
  TroubledStorage storage;
  const auto directory = DataDirectory::open(storage, temporary_ / "data", random_);
  ASSERT_TRUE(directory.has_value()) << directory.error().to_string();
  for (const char* name : {"trash/1-1", "trash/2-2"}) {
    std::filesystem::create_directory(temporary_ / ("data/" + std::string(name)));
    write(std::string(name) + "/00000000000000000001.log", "x");
  }
  storage.fail_removals("trash/1-1/");
  const auto failures = directory->empty_trash();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures.front().to_string().find("trash/1-1/"), std::string::npos) << failures.front().to_string();
  EXPECT_FALSE(std::filesystem::exists(temporary_ / "data/trash/2-2"));
}

// What the run before made or renamed may have missed its sync by a kill.
TEST_F(DataDirectoryTest, EveryOpenMakesTheNamesInItDurable) {
  {
    auto directory = open();
    ASSERT_TRUE(directory.has_value());
    ASSERT_TRUE(directory->finish_format());
  }
  TroubledStorage storage;
  ASSERT_TRUE(DataDirectory::open(storage, temporary_ / "data", random_).has_value());
  const auto synced = storage.synced_directories();
  for (const char* name : {"data", "data/groups", "data/trash"}) {
    EXPECT_NE(std::ranges::find(synced, temporary_ / name), synced.end()) << name;
  }
}

// A simulated file system stands for the real one in everything.
TEST_F(DataDirectoryTest, TouchesNothingBesideItsStorage) {
  test::MemoryStorage storage;
  const std::string path = temporary_ / "data";
  U128 cluster;
  {
    auto directory = DataDirectory::open(storage, path, random_);
    ASSERT_TRUE(directory.has_value()) << directory.error().to_string();
    cluster = directory->cluster_id();
    ASSERT_TRUE(directory->finish_format());
  }
  const auto again = DataDirectory::open(storage, path, random_);
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(again->cluster_id(), cluster);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(GroupDirectory, ParsesOnlyItsOwnSpelling) {
  EXPECT_EQ(parse_group_directory("12-345"), (GroupDirectory{GroupId(12), Incarnation(345)}));
  for (const char* name : {"", "12", "12-", "-1", "012-3", "1-2-3", "1-2x", "+1-2", "99999999999999999999-1"}) {
    EXPECT_FALSE(parse_group_directory(name).has_value()) << name;
  }
}

TEST_F(DataDirectoryTest, NamesTheRunWhoseWitnessCounts) {
  const auto directory = open();
  ASSERT_TRUE(directory.has_value());
  EXPECT_EQ(*directory->generation(), std::nullopt);
  EXPECT_FALSE(*directory->begin_generation(std::nullopt));
  EXPECT_TRUE(*directory->begin_generation(U128{1, 2}));
  EXPECT_EQ(*directory->generation(), (U128{1, 2}));
  EXPECT_TRUE(*directory->begin_generation(U128{3, 4}));
  EXPECT_EQ(*directory->generation(), (U128{3, 4}));
  EXPECT_FALSE(*directory->begin_generation(std::nullopt)) << "a run without a witness";
  EXPECT_EQ(*directory->generation(), std::nullopt);
}

TEST_F(DataDirectoryTest, AnUnreadableNameOfARunIsNone) {
  const auto directory = open();
  ASSERT_TRUE(directory.has_value());
  for (const std::string text : {"", "generation", "generation = 12\n", "other = 00000000000000000000000000000001\n"}) {
    write("generation", text);
    EXPECT_EQ(*directory->generation(), std::nullopt) << text;
  }
}

TEST_F(DataDirectoryTest, WithoutRoomForTheNewRunTheOldOneCountsNoMoreEither) {
  test::MemoryStorage storage;
  const auto directory = DataDirectory::open(storage, temporary_ / "data", random_);
  ASSERT_TRUE(directory.has_value()) << directory.error().to_string();
  ASSERT_TRUE(*directory->begin_generation(U128{1, 2}));
  storage.fault = {test::Change::kWrite, 1, ENOSPC};
  EXPECT_FALSE(*directory->begin_generation(U128{3, 4}));
  EXPECT_EQ(*directory->generation(), std::nullopt);
  storage.fault = {test::Change::kWrite, 1, EIO};
  EXPECT_FALSE(directory->begin_generation(U128{3, 4}).has_value());
}

}  // namespace
}  // namespace sluice::node
