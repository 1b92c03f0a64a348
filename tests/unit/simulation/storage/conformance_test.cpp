// SPDX-License-Identifier: Apache-2.0
// What the operating system's file system and its simulated twin have in common, run against both.
#include <gtest/gtest.h>

#include "core/storage/posix_storage.hpp"
#include "tests/simulation/storage/sim_storage.hpp"
#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::sim {
namespace {

using storage::FilePtr;
using storage::OpenMode;
using storage::Storage;

class RealWorld {
 public:
  Storage& storage() { return storage::posix_storage(); }
  test::TemporaryDirectory directory_;
  std::string root_ = directory_.path();
};

class SimulatedWorld {
 public:
  SimulatedWorld() { EXPECT_TRUE(storage().make_directories(root_).has_value()); }
  Storage& storage() { return sim_.process(); }
  std::string root_ = "/some/where";

 private:
  SimStorage sim_;
};

template <typename World>
class StorageConformance : public ::testing::Test {
 protected:
  [[nodiscard]] std::string in(const std::string& name) const { return world_.root_ + "/" + name; }
  Storage& storage() { return world_.storage(); }

  FilePtr open(const std::string& name, OpenMode mode) {
    auto file = storage().open(in(name), mode);
    EXPECT_TRUE(file.has_value()) << file.error().to_string();
    return file ? *file : nullptr;
  }
  FilePtr file_with(const std::string& name, std::string_view text) {
    const FilePtr file = open(name, OpenMode::kReplace);
    EXPECT_TRUE(file->write(0, as_bytes(text)).has_value());
    return file;
  }
  std::string text_of(const std::string& name) {
    const auto bytes = storage::read_file(storage(), in(name), 1u << 20);
    return bytes ? std::string(as_text(*bytes)) : std::string(bytes.error().code());
  }
  static std::string text_of(storage::File& file, std::uint64_t position = 0) {
    ByteVector bytes(1u << 16);
    const auto got = file.read(position, bytes);
    EXPECT_TRUE(got.has_value());
    return std::string(as_text(Bytes(bytes).first(*got)));
  }
  void make_directory(const std::string& name) { EXPECT_TRUE(storage().make_directories(in(name)).has_value()); }
  std::vector<std::string> names() { return storage().list(world_.root_).value(); }

  // The error without the place where this world is, or "" if there is none.
  template <typename T>
  std::string error_of(const Result<T>& outcome) {
    if (outcome) return "";
    std::string text = outcome.error().to_string();
    for (std::size_t at = text.find(world_.root_); at != std::string::npos; at = text.find(world_.root_))
      text.erase(at, world_.root_.size());
    return text;
  }

  World world_;
};

class WorldNames {
 public:
  template <typename World>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<World, RealWorld> ? "Real" : "Simulated";
  }
};
using Worlds = ::testing::Types<RealWorld, SimulatedWorld>;
TYPED_TEST_SUITE(StorageConformance, Worlds, WorldNames);

TYPED_TEST(StorageConformance, OpensAsTheModeSays) {
  Storage& storage = this->storage();
  EXPECT_EQ(this->error_of(storage.open(this->in("f"), OpenMode::kRead)),
            "open /f: No such file or directory (errno=ENOENT, file=/f) [base.not_found]");
  EXPECT_EQ(this->error_of(storage.open(this->in("f"), OpenMode::kReadWrite)),
            "open /f: No such file or directory (errno=ENOENT, file=/f) [base.not_found]");
  this->file_with("f", "text");
  EXPECT_EQ(this->error_of(storage.open(this->in("f"), OpenMode::kCreateNew)), "open /f: File exists (errno=EEXIST, file=/f) [base.io]");
  EXPECT_EQ(this->text_of("f"), "text");
  EXPECT_EQ(this->text_of(*this->open("f", OpenMode::kReadWrite)), "text");
  EXPECT_EQ(this->open("f", OpenMode::kReplace)->size().value(), 0U);
  EXPECT_EQ(this->open("f", OpenMode::kRead)->path(), this->in("f"));
  EXPECT_EQ(this->open("new", OpenMode::kCreateNew)->size().value(), 0U);
}

TYPED_TEST(StorageConformance, RefusesToChangeWhatIsOpenForReading) {
  this->file_with("f", "text");
  const FilePtr file = this->open("f", OpenMode::kRead);
  EXPECT_EQ(this->error_of(file->write(0, as_bytes("x"))), "write /f: Bad file descriptor (errno=EBADF, file=/f) [base.io]");
  EXPECT_EQ(this->error_of(file->truncate(1)), "truncate /f: Invalid argument (errno=EINVAL, file=/f) [base.io]");
  EXPECT_EQ(this->error_of(file->sync()), "");
  EXPECT_EQ(this->text_of("f"), "text");
}

TYPED_TEST(StorageConformance, TellsAFileInThePathFromAbsence) {
  Storage& storage = this->storage();
  this->file_with("f", "text");
  EXPECT_EQ(this->error_of(storage.open(this->in("f/g"), OpenMode::kRead)),
            "open /f/g: Not a directory (errno=ENOTDIR, file=/f/g) [base.io]");
  EXPECT_EQ(this->error_of(storage.open(this->in("f/g"), OpenMode::kReplace)),
            "open /f/g: Not a directory (errno=ENOTDIR, file=/f/g) [base.io]");
  EXPECT_EQ(this->error_of(storage.open(this->in("none/g"), OpenMode::kCreateNew)),
            "open /none/g: No such file or directory (errno=ENOENT, file=/none/g) [base.not_found]");
  EXPECT_EQ(this->error_of(storage.list(this->in("f"))), "list /f: Not a directory (errno=ENOTDIR, file=/f) [base.io]");
  EXPECT_EQ(this->error_of(storage.list(this->in("none"))),
            "list /none: No such file or directory (errno=ENOENT, file=/none) [base.not_found]");
  EXPECT_EQ(this->error_of(storage.sync_directory(this->in("f"))), "open /f: Not a directory (errno=ENOTDIR, file=/f) [base.io]");
  EXPECT_EQ(this->error_of(storage.sync_directory(this->in("none"))),
            "open /none: No such file or directory (errno=ENOENT, file=/none) [base.not_found]");
  EXPECT_EQ(this->error_of(storage.make_directories(this->in("f"))), "create /f: Not a directory (errno=ENOTDIR, file=/f) [base.io]");
  EXPECT_EQ(this->error_of(storage.make_directories(this->in("f/d"))), "stat /f/d: Not a directory (errno=ENOTDIR, file=/f/d) [base.io]");
}

TYPED_TEST(StorageConformance, RefusesADirectoryWhereAFileIsMeant) {
  Storage& storage = this->storage();
  this->make_directory("d");
  this->file_with("f", "text");
  EXPECT_EQ(this->error_of(storage.open(this->in("d"), OpenMode::kReadWrite)), "open /d: Is a directory (errno=EISDIR, file=/d) [base.io]");
  EXPECT_EQ(this->error_of(storage.open(this->in("d"), OpenMode::kReplace)), "open /d: Is a directory (errno=EISDIR, file=/d) [base.io]");
  EXPECT_EQ(this->error_of(storage.open(this->in("d"), OpenMode::kCreateNew)), "open /d: File exists (errno=EEXIST, file=/d) [base.io]");
  EXPECT_EQ(this->error_of(storage.remove(this->in("d"))), "remove /d: Is a directory (errno=EISDIR, file=/d) [base.io]");
  EXPECT_EQ(this->error_of(storage.rename(this->in("f"), this->in("d"))), "rename /f: Is a directory (errno=EISDIR, file=/f) [base.io]");
  EXPECT_EQ(this->error_of(storage.rename(this->in("d"), this->in("f"))), "rename /d: Not a directory (errno=ENOTDIR, file=/d) [base.io]");
  EXPECT_EQ(this->error_of(storage.remove_directory(this->in("f"))), "remove /f: Not a directory (errno=ENOTDIR, file=/f) [base.io]");
}

TYPED_TEST(StorageConformance, WritesPartsOneAfterTheOther) {
  const FilePtr file = this->open("f", OpenMode::kCreateNew);
  std::vector<ByteVector> owned;
  std::string all;
  for (std::size_t i = 0; i < 200; ++i) {
    owned.emplace_back(i % 90, static_cast<std::byte>('a' + i % 26));
    all += as_text(owned.back());
  }
  const std::vector<Bytes> parts(owned.begin(), owned.end());
  ASSERT_TRUE(file->write(3, parts).has_value());
  EXPECT_EQ(this->text_of(*file, 3), all);
  EXPECT_EQ(file->size().value(), 3 + all.size());
  ASSERT_TRUE(file->write(4095, as_bytes("ACROSS")).has_value());
  all.replace(4092, 6, "ACROSS");
  EXPECT_EQ(this->text_of(*file, 3), all);
}

TYPED_TEST(StorageConformance, WritesOfNothingChangeNothing) {
  const FilePtr file = this->file_with("f", "text");
  ASSERT_TRUE(file->write(100, Bytes()).has_value());
  ASSERT_TRUE(file->write(100, std::span<const Bytes>()).has_value());
  EXPECT_EQ(this->text_of(*file), "text");
}

TYPED_TEST(StorageConformance, ReadsEndAtTheEndOfTheFile) {
  const FilePtr file = this->file_with("f", "text");
  ByteVector bytes(10);
  EXPECT_EQ(file->read(2, bytes).value(), 2U);
  EXPECT_EQ(file->read(4, bytes).value(), 0U);
  EXPECT_EQ(file->read(1u << 20, bytes).value(), 0U);
  EXPECT_EQ(file->read(0, MutableBytes(bytes).first(3)).value(), 3U);
}

TYPED_TEST(StorageConformance, FillsWhatWasNeverWrittenWithZeros) {
  const FilePtr file = this->file_with("f", std::string(5000, 'x'));
  ASSERT_TRUE(file->write(20'000, as_bytes("end")).has_value());
  EXPECT_EQ(this->text_of(*file), std::string(5000, 'x') + std::string(15'000, '\0') + "end");
  ASSERT_TRUE(file->truncate(100).has_value());
  EXPECT_EQ(this->text_of(*file), std::string(100, 'x'));
  ASSERT_TRUE(file->truncate(9000).has_value());
  EXPECT_EQ(this->text_of(*file), std::string(100, 'x') + std::string(8900, '\0')) << "what was cut does not come back";
  ASSERT_TRUE(file->truncate(100).has_value());
  ASSERT_TRUE(file->write(200, as_bytes("y")).has_value());
  EXPECT_EQ(this->text_of(*file), std::string(100, 'x') + std::string(100, '\0') + "y");
}

TYPED_TEST(StorageConformance, RenamesOverAFile) {
  this->file_with("a", "new");
  const FilePtr replaced = this->file_with("b", "old");
  ASSERT_TRUE(this->storage().rename(this->in("a"), this->in("b")).has_value());
  EXPECT_EQ(this->names(), std::vector<std::string>{"b"});
  EXPECT_EQ(this->text_of("b"), "new");
  EXPECT_EQ(this->text_of(*replaced), "old") << "an open file outlives its name";
  ASSERT_TRUE(this->storage().rename(this->in("b"), this->in("b")).has_value());
  EXPECT_EQ(this->text_of("b"), "new");
}

TYPED_TEST(StorageConformance, RenamesDirectories) {
  Storage& storage = this->storage();
  this->make_directory("d/inner");
  this->file_with("d/f", "text");
  this->make_directory("empty");
  this->make_directory("full/x");
  EXPECT_EQ(this->error_of(storage.rename(this->in("d"), this->in("full"))),
            "rename /d: Directory not empty (errno=ENOTEMPTY, file=/d) [base.io]");
  EXPECT_EQ(this->error_of(storage.rename(this->in("d"), this->in("d/inner/x"))),
            "rename /d: Invalid argument (errno=EINVAL, file=/d) [base.io]");
  EXPECT_EQ(this->error_of(storage.rename(this->in("none"), this->in("x"))),
            "rename /none: No such file or directory (errno=ENOENT, file=/none) [base.not_found]");
  EXPECT_EQ(this->error_of(storage.rename(this->in("d/f"), this->in("none/f"))),
            "rename /d/f: No such file or directory (errno=ENOENT, file=/d/f) [base.not_found]");
  ASSERT_TRUE(storage.rename(this->in("d"), this->in("empty")).has_value());
  EXPECT_EQ(this->text_of("empty/f"), "text");
  ASSERT_TRUE(storage.rename(this->in("empty/f"), this->in("full/f")).has_value());
  EXPECT_EQ(this->names(), (std::vector<std::string>{"empty", "full"}));
  EXPECT_EQ(this->text_of("full/f"), "text");
}

TYPED_TEST(StorageConformance, RemovesFilesAndEmptyDirectories) {
  Storage& storage = this->storage();
  this->make_directory("d");
  this->file_with("d/f", "text");
  EXPECT_EQ(this->error_of(storage.remove_directory(this->in("d"))), "remove /d: Directory not empty (errno=ENOTEMPTY, file=/d) [base.io]");
  ASSERT_TRUE(storage.remove(this->in("d/f")).has_value());
  EXPECT_EQ(this->error_of(storage.remove(this->in("d/f"))),
            "remove /d/f: No such file or directory (errno=ENOENT, file=/d/f) [base.not_found]");
  ASSERT_TRUE(storage.remove_directory(this->in("d")).has_value());
  EXPECT_EQ(this->error_of(storage.remove_directory(this->in("d"))),
            "remove /d: No such file or directory (errno=ENOENT, file=/d) [base.not_found]");
  EXPECT_TRUE(this->names().empty());
}

TYPED_TEST(StorageConformance, LetsARemovedFileBeUsedByWhoHasItOpen) {
  const FilePtr file = this->file_with("f", "text");
  ASSERT_TRUE(this->storage().remove(this->in("f")).has_value());
  ASSERT_TRUE(this->storage().sync_directory(this->world_.root_).has_value());
  ASSERT_TRUE(file->write(4, as_bytes(" more")).has_value());
  ASSERT_TRUE(file->sync().has_value());
  EXPECT_EQ(this->text_of(*file), "text more");
  this->file_with("f", "another");
  EXPECT_EQ(this->text_of(*file), "text more");
}

TYPED_TEST(StorageConformance, SharesAFileAmongItsHandles) {
  const FilePtr one = this->file_with("f", "text");
  const FilePtr two = this->open("f", OpenMode::kReadWrite);
  ASSERT_TRUE(two->write(0, as_bytes("T")).has_value());
  EXPECT_EQ(this->text_of(*one), "Text");
  const FilePtr emptied = this->open("f", OpenMode::kReplace);
  EXPECT_EQ(this->text_of(*one), "");
}

TYPED_TEST(StorageConformance, ListsNamesSorted) {
  for (const char* const name : {"b", "a.log", "A", "10", "9"}) this->file_with(name, "");
  this->make_directory("dir");
  EXPECT_EQ(this->names(), (std::vector<std::string>{"10", "9", "A", "a.log", "b", "dir"}));
}

TYPED_TEST(StorageConformance, MakesMissingParentsAndLeavesWhatIsThere) {
  this->make_directory("a/b/c");
  this->file_with("a/b/f", "text");
  this->make_directory("a/b/c");
  this->make_directory("a/b/d");
  EXPECT_EQ(this->storage().list(this->in("a/b")).value(), (std::vector<std::string>{"c", "d", "f"}));
}

TYPED_TEST(StorageConformance, LocksAFileOnceAtATime) {
  Storage& storage = this->storage();
  auto held = storage.lock(this->in("lock"));
  ASSERT_TRUE(held.has_value()) << held.error().to_string();
  EXPECT_EQ(this->names(), std::vector<std::string>{"lock"});
  EXPECT_EQ(storage.lock(this->in("lock")).error().code(), "storage.locked");
  EXPECT_TRUE(storage.lock(this->in("another")).has_value());
  held->reset();
  EXPECT_TRUE(storage.lock(this->in("lock")).has_value());
  EXPECT_EQ(storage.lock(this->in("none/lock")).error().code(), "base.not_found");
  this->make_directory("d");
  EXPECT_EQ(storage.lock(this->in("d")).error().code(), "base.io");
}

TYPED_TEST(StorageConformance, ReplacesAFileAsAWhole) {
  ASSERT_TRUE(storage::replace_file(this->storage(), this->world_.root_, "f", as_bytes("one")).has_value());
  ASSERT_TRUE(storage::replace_file(this->storage(), this->world_.root_, "f", as_bytes("second")).has_value());
  EXPECT_EQ(this->text_of("f"), "second");
  EXPECT_EQ(this->names(), std::vector<std::string>{"f"});
}

}  // namespace
}  // namespace sluice::sim
