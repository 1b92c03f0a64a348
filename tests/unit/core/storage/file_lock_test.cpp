// SPDX-License-Identifier: Apache-2.0
#include "core/storage/file_lock.hpp"

#include <csignal>
#include <fstream>
#include <iterator>

#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/storage/errc.hpp"
#include "core/storage/posix_storage.hpp"
#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::storage {
namespace {

class FileLockTest : public ::testing::Test {
 protected:
  test::TemporaryDirectory directory_;
  const std::string root_ = directory_.path();
};

// While it lives no file of this process can grow: writes fail as they do on a full disk.
class NoRoomForWrites {
 public:
  NoRoomForWrites() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    signal_before_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~NoRoomForWrites() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_before_);
  }
  NoRoomForWrites(const NoRoomForWrites&) = delete;
  NoRoomForWrites& operator=(const NoRoomForWrites&) = delete;

 private:
  rlimit before_{};
  void (*signal_before_)(int) = SIG_DFL;
};

TEST_F(FileLockTest, NeedsNoRoomOnTheDisk) {
  const std::string path = root_ + "/LOCK";
  std::ofstream(path) << "123456789\n";
  Result<FileLock> lock = fail(sluice::Errc::kInternal, "not tried");
  Result<FileLock> second = fail(sluice::Errc::kInternal, "not tried");
  {
    const NoRoomForWrites no_room;
    lock = FileLock::acquire(path);
    second = FileLock::acquire(path);
  }
  ASSERT_TRUE(lock.has_value()) << lock.error().to_string();
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(second.error().is(Errc::kLocked));
  EXPECT_EQ(second.error().message().find("123456789"), std::string::npos) << "the last holder is not this one";
}

TEST_F(FileLockTest, OfTheFileSystemExcludesASecondOneAndEndsWithItsObject) {
  Storage& storage = posix_storage();
  auto first = storage.lock(root_ + "/LOCK");
  ASSERT_TRUE(first.has_value()) << first.error().to_string();
  const auto second = storage.lock(root_ + "/LOCK");
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(second.error().is(Errc::kLocked));
  EXPECT_NE(second.error().message().find(std::to_string(::getpid())), std::string::npos);
  first->reset();
  EXPECT_TRUE(storage.lock(root_ + "/LOCK").has_value());
}

}  // namespace
}  // namespace sluice::storage
