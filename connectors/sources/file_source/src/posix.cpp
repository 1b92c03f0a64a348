// SPDX-License-Identifier: Apache-2.0
#include "posix.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sluice::file_source {
namespace {

FileStatus file_status_from(const struct stat& info) {
  return {.id = {.device = info.st_dev, .inode = info.st_ino},
          .size = static_cast<std::uint64_t>(info.st_size),
          .modified_ns = static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec,
          .regular = S_ISREG(info.st_mode)};
}

}  // namespace

FileHandle::~FileHandle() {
  if (fd_ >= 0) ::close(fd_);
}

void throw_errno(int error_number, const std::string& what) {
  throw std::system_error(error_number, std::generic_category(), what);
}

FileHandle open_for_reading(const std::string& path) {
  // O_NONBLOCK: a FIFO in the place of a log file must not hold the open.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) throw_errno(errno, "cannot open " + path);
  return FileHandle(fd);
}

FileStatus status_of(const FileHandle& file, const std::string& path) {
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) throw_errno(errno, "cannot read the status of " + path);
  return file_status_from(info);
}

bool status_of_path(const std::string& path, FileStatus& status) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    throw_errno(errno, "cannot read the status of " + path);
  }
  status = file_status_from(info);
  return true;
}

std::size_t read_at(const FileHandle& file, const std::string& path, char* out, std::size_t count, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = ::pread(file.get(), out + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(errno, "cannot read " + path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace sluice::file_source
