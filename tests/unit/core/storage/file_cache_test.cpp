// SPDX-License-Identifier: Apache-2.0
#include "core/storage/file_cache.hpp"

#include <atomic>
#include <cerrno>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "core/storage/posix_storage.hpp"
#include "tests/simulation/storage/sim_storage.hpp"
#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::storage {
namespace {

// The operating system's storage, with a place to look in before each open, write and sync; some may be made to fail.
class WatchedStorage final : public Storage {
 public:
  std::function<Result<void>()> on_open = [] { return Result<void>(); };
  std::function<void()> on_write = [] {};
  std::function<Result<void>()> on_sync = [] { return Result<void>(); };
  std::atomic<std::size_t> opened = 0;
  std::atomic<std::uint64_t> forgotten = 0;  // bytes that are to be read from the device

  Result<FilePtr> open(const std::string& path, OpenMode mode) override {
    SLUICE_CHECK(on_open());
    SLUICE_TRY(FilePtr file, posix_storage().open(path, mode));
    ++opened;
    return std::make_shared<WatchedFile>(*this, std::move(file));
  }
  Result<void> rename(const std::string& from, const std::string& to) override { return posix_storage().rename(from, to); }
  Result<void> remove(const std::string& path) override { return posix_storage().remove(path); }
  Result<void> remove_directory(const std::string& directory) override { return posix_storage().remove_directory(directory); }
  Result<std::vector<std::string>> list(const std::string& directory) override { return posix_storage().list(directory); }
  Result<void> make_directories(const std::string& directory) override { return posix_storage().make_directories(directory); }
  Result<void> sync_directory(const std::string& directory) override { return posix_storage().sync_directory(directory); }

 private:
  struct WatchedFile final : File {
    WatchedFile(WatchedStorage& owner, FilePtr file) : watched(owner), below(std::move(file)) {}
    const std::string& path() const override { return below->path(); }
    Result<void> write(std::uint64_t position, std::span<const Bytes> parts) override {
      watched.on_write();
      return below->write(position, parts);
    }
    Result<std::size_t> read(std::uint64_t position, MutableBytes out) override { return below->read(position, out); }
    Result<void> sync() override {
      SLUICE_CHECK(watched.on_sync());
      return below->sync();
    }
    void start_writeback(std::uint64_t position, std::uint64_t bytes) override { below->start_writeback(position, bytes); }
    void forget_cached(std::uint64_t, std::uint64_t bytes) override { watched.forgotten += bytes; }
    Result<void> truncate(std::uint64_t size) override { return below->truncate(size); }
    Result<std::uint64_t> size() override { return below->size(); }
    WatchedStorage& watched;
    FilePtr below;
  };
};

class FileCacheTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kOpenMax = 4;

  std::string path(const std::string& name) const { return root_ + "/" + name; }
  FilePtr create(const std::string& name) {
    auto file = cache_.open(path(name), OpenMode::kCreateNew);
    EXPECT_TRUE(file.has_value());
    return *std::move(file);
  }
  FilePtr create_synced(const std::string& name) {
    FilePtr file = create(name);
    EXPECT_TRUE(file->write(0, as_bytes(name)).has_value());
    EXPECT_TRUE(file->sync().has_value());
    return file;
  }
  static std::string contents(File& file) {
    ByteVector bytes(64);
    const auto got = file.read(0, bytes);
    EXPECT_TRUE(got.has_value());
    return got ? std::string(as_text(Bytes(bytes).first(*got))) : "";
  }
  // So many that nothing idle keeps its descriptor.
  void use_others() {
    for (std::size_t i = 0; i < kOpenMax; ++i) others_.push_back(create_synced("other" + std::to_string(others_.size())));
  }

  test::TemporaryDirectory directory_;
  const std::string root_ = directory_.path();
  WatchedStorage below_;
  FileCache cache_{below_, kOpenMax};
  std::vector<FilePtr> others_;
};

TEST_F(FileCacheTest, IdleFilesBeyondTheMaximumAreClosedAndOpenedAgainWhenTheyAreUsed) {
  std::vector<FilePtr> files;
  for (int i = 0; i < 20; ++i) files.push_back(create_synced("f" + std::to_string(i)));
  EXPECT_EQ(cache_.open_files(), kOpenMax);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(contents(*files[static_cast<std::size_t>(i)]), "f" + std::to_string(i));
    EXPECT_TRUE(files[static_cast<std::size_t>(i)]->write(0, as_bytes("g")).has_value());
    EXPECT_TRUE(files[static_cast<std::size_t>(i)]->sync().has_value());
    EXPECT_EQ(files[static_cast<std::size_t>(i)]->size(), 1U + std::to_string(i).size());
  }
  EXPECT_EQ(cache_.open_files(), kOpenMax);
  files.clear();
  EXPECT_EQ(cache_.open_files(), 0U);
}

TEST_F(FileCacheTest, HandsOnThatBytesAreToComeFromTheDevice) {
  const FilePtr file = create_synced("f");
  use_others();
  file->forget_cached(0, 1);
  EXPECT_EQ(below_.forgotten, 1U) << "also of a file that has to be opened for it";
}

TEST_F(FileCacheTest, TheOneUsedLongestAgoGoes) {
  const FilePtr a = create_synced("a");
  const FilePtr b = create_synced("b");
  EXPECT_EQ(contents(*a), "a");
  for (std::size_t i = 0; i < kOpenMax - 1; ++i) others_.push_back(create_synced("other" + std::to_string(i)));
  const std::size_t opened = below_.opened;
  EXPECT_EQ(contents(*a), "a");
  EXPECT_EQ(below_.opened, opened);
  EXPECT_EQ(contents(*b), "b");
  EXPECT_EQ(below_.opened, opened + 1);
}

TEST_F(FileCacheTest, AFileWithUnsyncedBytesKeepsItsDescriptor) {
  const FilePtr fresh = create("fresh");
  const FilePtr written = create_synced("written");
  ASSERT_TRUE(written->write(0, as_bytes("x")).has_value());
  const FilePtr cut = create_synced("cut");
  ASSERT_TRUE(cut->truncate(0).has_value());
  use_others();
  const std::size_t opened = below_.opened;
  for (const FilePtr& file : {fresh, written, cut}) ASSERT_TRUE(file->sync().has_value());
  EXPECT_EQ(below_.opened, opened);
}

// What a fresh descriptor would not be told of.
TEST(FileCache, AWritebackThatFailsWhileOthersAreUsedReachesTheSync) {
  sim::SimStorage machine;
  FileCache cache(machine.process(), 1);
  const auto create = [&](const std::string& name) { return *cache.open("/" + name, OpenMode::kCreateNew); };
  const FilePtr file = create("f");
  ASSERT_TRUE(file->write(0, as_bytes("first")).has_value());
  ASSERT_TRUE(create("other")->sync().has_value());
  machine.fail_writeback("/f");
  ASSERT_TRUE(file->write(5, as_bytes("second")).has_value());
  const auto synced = file->sync();
  ASSERT_FALSE(synced.has_value()) << "the first bytes are lost, and nobody will ever say so";
  EXPECT_TRUE(synced.error().is(sluice::Errc::kIo)) << synced.error().to_string();
  EXPECT_TRUE(file->sync().has_value());
  EXPECT_NE(machine.stable("/f"), machine.buffered("/f"));
}

TEST_F(FileCacheTest, AWriteThatEndsAfterASyncBeganIsNotCoveredByIt) {
  const FilePtr file = create_synced("f");
  bool inside = false;
  below_.on_write = [&] {
    if (std::exchange(inside, true)) return;
    EXPECT_TRUE(file->sync().has_value());
  };
  ASSERT_TRUE(file->write(0, as_bytes("x")).has_value());
  below_.on_write = [] {};
  use_others();
  const std::size_t opened = below_.opened;
  ASSERT_TRUE(file->sync().has_value());
  EXPECT_EQ(below_.opened, opened);
}

TEST_F(FileCacheTest, AFileWhoseSyncFailedKeepsItsDescriptorAlsoAfterOneThatSucceeds) {
  const FilePtr file = create_synced("f");
  below_.on_sync = [] { return Result<void>(fail(sluice::Errc::kIo, "sync")); };
  ASSERT_FALSE(file->sync().has_value());
  below_.on_sync = [] { return Result<void>(); };
  ASSERT_TRUE(file->sync().has_value());
  use_others();
  const std::size_t opened = below_.opened;
  EXPECT_EQ(contents(*file), "f");
  EXPECT_EQ(below_.opened, opened);
}

TEST_F(FileCacheTest, ARemovedFileCanStillBeRead) {
  const FilePtr file = create_synced("f");
  use_others();
  ASSERT_TRUE(cache_.remove(path("f")).has_value());
  use_others();
  EXPECT_EQ(contents(*file), "f");
}

TEST_F(FileCacheTest, ARenamedFileIsFoundUnderItsNewName) {
  const FilePtr file = create_synced("f");
  const FilePtr replaced = create_synced("g");
  use_others();
  ASSERT_TRUE(cache_.rename(path("f"), path("g")).has_value());
  use_others();
  EXPECT_EQ(contents(*file), "f");
  EXPECT_EQ(contents(*replaced), "g");
  EXPECT_EQ(file->path(), path("f"));
}

TEST_F(FileCacheTest, FilesOfARenamedDirectoryAreFound) {
  ASSERT_TRUE(cache_.make_directories(path("d")).has_value());
  const FilePtr file = create_synced("d/f");
  use_others();
  ASSERT_TRUE(cache_.rename(path("d"), path("e")).has_value());
  use_others();
  EXPECT_EQ(contents(*file), "d/f");
}

TEST_F(FileCacheTest, GivesWayWhenTheProcessHasNoDescriptorLeft) {
  FileCache cache(below_, 1000);
  std::vector<FilePtr> idle;
  for (int i = 0; i < 8; ++i) {
    auto file = cache.open(path("f" + std::to_string(i)), OpenMode::kCreateNew);
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE((*file)->sync().has_value());
    idle.push_back(*std::move(file));
  }
  std::size_t asked = 0;
  below_.on_open = [&] {
    ++asked;
    return asked == 1 ? Result<void>(fail(errno_error(EMFILE, "open"))) : Result<void>();
  };
  const auto file = cache.open(path("more"), OpenMode::kCreateNew);
  EXPECT_TRUE(file.has_value());
  EXPECT_EQ(asked, 2U);
  EXPECT_EQ(cache.open_files(), 1U);
  EXPECT_EQ(contents(*idle.front()), "");

  below_.on_open = [] { return Result<void>(fail(errno_error(EMFILE, "open"))); };
  EXPECT_FALSE(cache.open(path("none"), OpenMode::kCreateNew).has_value());
  const auto refused = idle.back()->write(0, as_bytes("x"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(sluice::Errc::kNoSpace)) << refused.error().to_string();
  EXPECT_TRUE(idle.back()->sync().has_value()) << "nothing is un-synced";
}

TEST_F(FileCacheTest, ManyThreadsUseMoreFilesThanMayBeOpen) {
  constexpr std::size_t kFiles = 12;
  std::vector<FilePtr> files;
  for (std::size_t i = 0; i < kFiles; ++i) files.push_back(create_synced(std::to_string(i)));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&, seed] {
      SeededRandom random(seed);
      for (int i = 0; i < 400; ++i) {
        const std::size_t which = random.next() % kFiles;
        const std::string name = std::to_string(which);
        if (i % 7 == 0 && !files[which]->write(0, as_bytes(name))) ++wrong;
        if (i % 9 == 0 && !files[which]->sync()) ++wrong;
        if (contents(*files[which]) != name) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (const FilePtr& file : files) EXPECT_TRUE(file->sync().has_value());
  EXPECT_EQ(cache_.open_files(), kOpenMax);
}

}  // namespace
}  // namespace sluice::storage
