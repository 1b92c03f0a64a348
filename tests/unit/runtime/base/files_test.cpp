// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace sluice::files {
namespace {

class Files : public testing::Test {
 protected:
  Files() : folder_(testing::TempDir() + "sluice_files_" + std::to_string(::getpid())) { std::filesystem::create_directories(folder_); }
  ~Files() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_;
};

TEST_F(Files, ReplaceWhatWasThereAndLeaveNoTemporary) {
  const auto file = folder_ / "a";
  ASSERT_TRUE(write_atomically(file, "one").has_value());
  ASSERT_TRUE(write_atomically(file, "two", 0600).has_value());
  EXPECT_EQ(read(file).value(), "two");
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, KeepTheOldContentsWhenTheNewCannotBeWritten) {
  const auto file = folder_ / "a";
  ASSERT_TRUE(write_atomically(file, "one").has_value());
  std::filesystem::create_directory(folder_ / "a.tmp");
  EXPECT_FALSE(write_atomically(file, "two").has_value());
  EXPECT_EQ(read(file).value(), "one");
}

TEST_F(Files, SayWhatIsMissingTooLargeOrAFolder) {
  const auto missing = read(folder_ / "none");
  ASSERT_FALSE(missing.has_value());
  EXPECT_TRUE(missing.error().is(Errc::kNotFound));
  EXPECT_NE(missing.error().message().find("none"), std::string::npos);
  EXPECT_TRUE(read(folder_).error().is(Errc::kInvalidArgument));
  ASSERT_TRUE(write_atomically(folder_ / "big", std::string(100, 'x')).has_value());
  EXPECT_TRUE(read(folder_ / "big", 99).error().is(Errc::kLimit));
  EXPECT_EQ(read(folder_ / "big", 100).value().size(), 100u);
}

TEST_F(Files, AreReadIntoPagesAsTheyAre) {
  const std::string contents = std::string(200'000, 'a') + '\0' + "end";
  const auto file = folder_ / "large";
  ASSERT_TRUE(write_atomically(file, contents));
  const auto pages = read_into_pages(file, contents.size());
  ASSERT_TRUE(pages) << pages.error().to_string();
  EXPECT_EQ(pages->text(), contents);
  EXPECT_TRUE(read_into_pages(file, contents.size() - 1).error().is(Errc::kLimit));
  EXPECT_TRUE(read_into_pages(folder_, 100).error().is(Errc::kInvalidArgument));
  ASSERT_TRUE(write_atomically(file, ""));
  EXPECT_EQ(read_into_pages(file, 0)->text(), "");
}

TEST_F(Files, DoNotWaitForAPipe) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read(pipe).value(), "");
}

}  // namespace
}  // namespace sluice::files
