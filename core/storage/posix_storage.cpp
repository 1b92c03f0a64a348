// SPDX-License-Identifier: Apache-2.0
#include "core/storage/posix_storage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "core/storage/file_lock.hpp"

namespace sluice::storage {
namespace {

constexpr std::size_t kPartsPerCall = 64;
constexpr int kDirectoryDepthMax = 64;

std::unexpected<Error> io_failure(const char* verb, const std::string& path) {
  const int error_number = errno;
  return fail(errno_error(error_number, fmt::format("{} {}", verb, path)).with("file", path));
}

class PosixFile final : public File {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  // What close could report of un-synced bytes is of no use to anybody: who needs to know syncs first.
  ~PosixFile() override { ::close(fd_); }
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  const std::string& path() const override { return path_; }

  Result<void> write(std::uint64_t position, std::span<const Bytes> parts) override {
    std::array<iovec, kPartsPerCall> vectors;
    std::size_t skip = 0;  // bytes of parts[0] that are written already
    while (!parts.empty()) {
      const std::size_t count = std::min(parts.size(), vectors.size());
      for (std::size_t i = 0; i < count; ++i) {
        const Bytes part = i == 0 ? parts[i].subspan(skip) : parts[i];
        vectors.at(i) = {const_cast<std::byte*>(part.data()), part.size()};
      }
      const ssize_t written = ::pwritev(fd_, vectors.data(), static_cast<int>(count), narrow<off_t>(position));
      if (written < 0) {
        if (errno == EINTR) continue;
        return io_failure("write", path_);
      }
      position += static_cast<std::uint64_t>(written);
      std::size_t left = static_cast<std::size_t>(written);
      if (left == 0 && total(parts) != skip) return fail(sluice::Errc::kIo, fmt::format("write {}: the system wrote nothing", path_));
      while (!parts.empty() && left >= parts.front().size() - skip) {
        left -= parts.front().size() - skip;
        skip = 0;
        parts = parts.subspan(1);
      }
      skip += left;
    }
    return {};
  }

  Result<std::size_t> read(std::uint64_t position, MutableBytes out) override {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = ::pread(fd_, out.data() + done, out.size() - done, narrow<off_t>(position + done));
      if (got < 0) {
        if (errno == EINTR) continue;
        return io_failure("read", path_);
      }
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Result<void> sync() override {
    if (::fdatasync(fd_) != 0) return io_failure("sync", path_);
    return {};
  }

  void start_writeback(std::uint64_t position, std::uint64_t bytes) override {
    // Without one of the waiting flags it takes no error away from the sync.
    (void)::sync_file_range(fd_, narrow<off_t>(position), narrow<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
  }

  void forget_cached(std::uint64_t position, std::uint64_t bytes) override {
    (void)::posix_fadvise(fd_, narrow<off_t>(position), narrow<off_t>(bytes), POSIX_FADV_DONTNEED);
  }

  Result<void> truncate(std::uint64_t size) override {
    while (::ftruncate(fd_, narrow<off_t>(size)) != 0) {
      if (errno != EINTR) return io_failure("truncate", path_);
    }
    return {};
  }

  Result<std::uint64_t> size() override {
    struct stat status{};
    if (::fstat(fd_, &status) != 0) return io_failure("stat", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

 private:
  static std::size_t total(std::span<const Bytes> parts) {
    std::size_t sum = 0;
    for (const Bytes part : parts) sum += part.size();
    return sum;
  }

  int fd_;
  std::string path_;
};

int open_flags(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead:
      return O_RDONLY;
    case OpenMode::kReadWrite:
      return O_RDWR;
    case OpenMode::kCreateNew:
      return O_RDWR | O_CREAT | O_EXCL;
    case OpenMode::kReplace:
      return O_RDWR | O_CREAT | O_TRUNC;
  }
  return O_RDONLY;
}

std::string parent_of(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

struct PosixLock final : Lock {
  explicit PosixLock(FileLock lock) : held(std::move(lock)) {}
  FileLock held;
};

class PosixStorage final : public Storage {
 public:
  Result<FilePtr> open(const std::string& path, OpenMode mode) override {
    int fd = -1;
    do fd = ::open(path.c_str(), open_flags(mode) | O_CLOEXEC | O_NOCTTY, 0640);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return io_failure("open", path);
    return std::make_shared<PosixFile>(fd, path);
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return io_failure("rename", from);
    return {};
  }

  Result<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return io_failure("remove", path);
    return {};
  }

  Result<void> remove_directory(const std::string& directory) override {
    if (::rmdir(directory.c_str()) != 0) return io_failure("remove", directory);
    return {};
  }

  Result<std::vector<std::string>> list(const std::string& directory) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), &::closedir);
    if (!stream) return io_failure("list", directory);
    std::vector<std::string> names;
    while (true) {
      errno = 0;
      const dirent* const item = ::readdir(stream.get());
      if (item == nullptr) break;
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    if (errno != 0) return io_failure("list", directory);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<void> make_directories(const std::string& directory) override { return make_directory(directory, kDirectoryDepthMax); }

  Result<void> sync_directory(const std::string& directory) override {
    const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return io_failure("open", directory);
    const int outcome = ::fsync(fd);
    const int error_number = errno;
    ::close(fd);
    errno = error_number;
    if (outcome != 0) return io_failure("sync", directory);
    return {};
  }

  Result<LockPtr> lock(const std::string& path) override {
    SLUICE_TRY(FileLock held, FileLock::acquire(path));
    return std::make_unique<PosixLock>(std::move(held));
  }

  Result<Space> space(const std::string& directory) override {
    struct statvfs status{};
    if (::statvfs(directory.c_str(), &status) != 0) return io_failure("stat", directory);
    return Space{.free = std::uint64_t{status.f_bavail} * status.f_frsize, .total = std::uint64_t{status.f_blocks} * status.f_frsize};
  }

  Result<void> take_room(const std::string& path, std::uint64_t bytes) override {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) return io_failure("open", path);
    int outcome = 0;
    do outcome = ::posix_fallocate(fd, 0, narrow<off_t>(bytes));
    while (outcome == EINTR);
    ::close(fd);
    if (outcome == 0) return {};
    // A part of it is no use to anybody.
    (void)::unlink(path.c_str());
    errno = outcome;
    return io_failure("allocate", path);
  }

 private:
  Result<void> make_directory(const std::string& directory, int depth_left) {
    struct stat status{};
    if (::stat(directory.c_str(), &status) == 0) {
      if (S_ISDIR(status.st_mode)) return sync_entry(directory);
      errno = ENOTDIR;
      return io_failure("create", directory);
    }
    if (errno != ENOENT) return io_failure("stat", directory);
    if (depth_left == 0)
      return fail(sluice::Errc::kLimit, fmt::format("{}: more than {} missing directories", directory, kDirectoryDepthMax));
    const std::string parent = parent_of(directory);
    SLUICE_CHECK(make_directory(parent, depth_left - 1));
    if (::mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST) return io_failure("create", directory);
    return sync_directory(parent);
  }

  // A parent that cannot be opened for reading is not one in which an earlier run made this directory: that run would have failed.
  Result<void> sync_entry(const std::string& directory) {
    const std::string parent = parent_of(directory);
    if (::access(parent.c_str(), R_OK) != 0) return {};
    return sync_directory(parent);
  }
};

}  // namespace

Storage& posix_storage() {
  static PosixStorage storage;
  return storage;
}

}  // namespace sluice::storage
