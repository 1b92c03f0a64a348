// SPDX-License-Identifier: Apache-2.0
#include "core/storage/posix_storage.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "core/storage/io_queue.hpp"
#include "tests/unit/core/temporary_directory.hpp"

namespace {

// The directories that were synced, as this program sees its own calls.
std::vector<std::string>& synced_directories() {
  static std::vector<std::string> paths;
  return paths;
}

}  // namespace

// In the place of the C library's.
extern "C" int fsync(int fd) {
  synced_directories().push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).string());
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace sluice::storage {
namespace {

class PosixStorage : public ::testing::Test {
 protected:
  test::TemporaryDirectory directory_;
  const std::string root_ = directory_.path();
  Storage& storage_ = posix_storage();
};

TEST_F(PosixStorage, WritesPartsInOrderAndReadsThemBack) {
  const auto file = storage_.open(root_ + "/f", OpenMode::kCreateNew);
  ASSERT_TRUE(file.has_value()) << file.error().to_string();
  std::vector<ByteVector> owned;
  std::vector<Bytes> parts;
  ByteVector all;
  for (std::size_t i = 0; i < 300; ++i) {
    owned.emplace_back(i % 7, static_cast<std::byte>(i));
    all.insert(all.end(), owned.back().begin(), owned.back().end());
  }
  for (const ByteVector& part : owned) parts.emplace_back(part);
  ASSERT_TRUE((*file)->write(5, parts).has_value());
  ASSERT_TRUE((*file)->sync().has_value());
  EXPECT_EQ((*file)->size().value(), 5 + all.size());
  ByteVector back(all.size() + 10);
  EXPECT_EQ((*file)->read(5, back).value(), all.size());
  back.resize(all.size());
  EXPECT_EQ(back, all);
  ASSERT_TRUE((*file)->truncate(3).has_value());
  EXPECT_EQ((*file)->size().value(), 3U);
  EXPECT_EQ((*file)->read(3, back).value(), 0U);
}

TEST_F(PosixStorage, TellsAbsentFromEveryOtherFailure) {
  const auto absent = storage_.open(root_ + "/none", OpenMode::kRead);
  ASSERT_FALSE(absent.has_value());
  EXPECT_TRUE(is_absent(absent.error()));
  EXPECT_NE(absent.error().to_string().find(root_ + "/none"), std::string::npos);
  ASSERT_TRUE(storage_.open(root_ + "/f", OpenMode::kCreateNew).has_value());
  EXPECT_FALSE(is_absent(storage_.open(root_ + "/f", OpenMode::kCreateNew).error()));
  EXPECT_FALSE(is_absent(storage_.open(root_ + "/f/g", OpenMode::kRead).error())) << "a file is no directory, which is not absence";
  EXPECT_FALSE(is_absent(storage_.list(root_ + "/f").error()));
  EXPECT_TRUE(is_absent(storage_.list(root_ + "/none").error()));
  EXPECT_TRUE(is_absent(storage_.remove(root_ + "/none").error()));
}

TEST_F(PosixStorage, CreatesMissingDirectories) {
  ASSERT_TRUE(storage_.make_directories(root_ + "/a/b/c").has_value());
  ASSERT_TRUE(storage_.make_directories(root_ + "/a/b/c").has_value());
  EXPECT_TRUE(std::filesystem::is_directory(root_ + "/a/b/c"));
  ASSERT_TRUE(storage_.open(root_ + "/f", OpenMode::kCreateNew).has_value());
  EXPECT_FALSE(storage_.make_directories(root_ + "/f/d").has_value());
  ASSERT_TRUE(storage_.remove_directory(root_ + "/a/b/c").has_value());
  EXPECT_FALSE(std::filesystem::exists(root_ + "/a/b/c"));
}

// A process that was killed between making a directory and syncing its parent leaves one that a power cut takes away, with all that later
// runs put there.
TEST_F(PosixStorage, SyncsTheEntryOfADirectoryThatIsThereAlready) {
  const std::string root = std::filesystem::canonical(root_);
  std::filesystem::create_directories(root + "/a/b");
  for (const char* spelling : {"/a/b", "/a/b/"}) {
    synced_directories().clear();
    ASSERT_TRUE(storage_.make_directories(root + spelling).has_value());
    EXPECT_EQ(synced_directories(), std::vector<std::string>{root + "/a"}) << spelling;
  }
  synced_directories().clear();
  ASSERT_TRUE(storage_.make_directories(root + "/a/b/c").has_value());
  EXPECT_EQ(synced_directories(), (std::vector<std::string>{root + "/a", root + "/a/b"}));
}

TEST_F(PosixStorage, ReplacesAFileAsAWhole) {
  ASSERT_TRUE(replace_file(storage_, root_, "f", as_bytes("one")).has_value());
  ASSERT_TRUE(replace_file(storage_, root_, "f", as_bytes("second")).has_value());
  EXPECT_EQ(as_text(read_file(storage_, root_ + "/f", 100).value()), "second");
  EXPECT_EQ(storage_.list(root_).value(), std::vector<std::string>{"f"});
  EXPECT_EQ(read_file(storage_, root_ + "/f", 5).error().code(), "base.limit");
}

TEST_F(PosixStorage, TakesTheRoomOfAFileThatIsThereForItAlone) {
  const auto before = storage_.space(root_);
  ASSERT_TRUE(before.has_value()) << before.error().to_string();
  EXPECT_GT(before->total, 0U);
  EXPECT_LE(before->free, before->total);
  EXPECT_FALSE(storage_.space(root_ + "/absent").has_value());
  constexpr std::uint64_t kBytes = 1U << 20;
  const std::string path = root_ + "/reserve";
  ASSERT_TRUE(storage_.take_room(path, kBytes).has_value());
  ASSERT_TRUE(storage_.take_room(path, kBytes).has_value()) << "it is there already";
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, static_cast<off_t>(kBytes));
  EXPECT_GE(static_cast<std::uint64_t>(status.st_blocks) * 512, kBytes);
  const auto taken = storage_.take_room(path, 1ULL << 62);
  ASSERT_FALSE(taken.has_value());
  EXPECT_FALSE(std::filesystem::exists(path)) << "a part of it is no use";
}

TEST(IoThreads, RunEveryJobAndPostItsOutcome) {
  std::atomic<int> jobs = 0;
  std::mutex mutex;
  std::vector<std::move_only_function<void()>> posted;
  {
    IoThreads threads(3);
    PostingIoQueue queue(threads, [&](std::move_only_function<void()> task) {
      const std::lock_guard lock(mutex);
      posted.push_back(std::move(task));
    });
    for (int i = 0; i < 50; ++i) {
      queue.submit(
          [&]() -> Result<void> {
            ++jobs;
            return {};
          },
          [&, owner = std::this_thread::get_id()](Result<void> outcome) {
            EXPECT_TRUE(outcome.has_value());
            EXPECT_EQ(std::this_thread::get_id(), owner);
          });
    }
  }
  EXPECT_EQ(jobs, 50);
  ASSERT_EQ(posted.size(), 50U);
  for (auto& task : posted) task();
}

}  // namespace
}  // namespace sluice::storage
