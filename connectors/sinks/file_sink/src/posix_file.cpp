// SPDX-License-Identifier: Apache-2.0
#include "posix_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace sluice::file_sink {
namespace {

constexpr mode_t kFileMode = 0640;

[[noreturn]] void throw_file_error(int error_number, const std::string& what) {
  throw std::system_error(error_number, std::generic_category(), what);
}

FileHandle open_or_throw(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, kFileMode);
  if (fd < 0) throw_file_error(errno, "cannot open " + path);
  return FileHandle(fd);
}

}  // namespace

FileHandle::~FileHandle() {
  if (fd_ >= 0) ::close(fd_);
}

FileHandle open_and_lock(const std::string& path) {
  FileHandle file = open_or_throw(path, O_WRONLY | O_CREAT | O_NOCTTY);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) throw_file_error(errno, "another process or connector writes " + path);
  return file;
}

FileStatus status_of(const FileHandle& file, const std::string& path) {
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) throw_file_error(errno, "cannot read the status of " + path);
  return {.inode = info.st_ino, .size = static_cast<std::uint64_t>(info.st_size)};
}

std::optional<FileStatus> status_of_path(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) return FileStatus{.inode = info.st_ino, .size = static_cast<std::uint64_t>(info.st_size)};
  if (errno == ENOENT) return std::nullopt;
  throw_file_error(errno, "cannot read the status of " + path);
}

void write_at(const FileHandle& file, const std::string& path, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_file_error(errno, "cannot write " + path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void truncate_to(const FileHandle& file, const std::string& path, std::uint64_t length) {
  if (::ftruncate(file.get(), static_cast<off_t>(length)) != 0) throw_file_error(errno, "cannot cut " + path);
}

void sync_file(const FileHandle& file, const std::string& path) {
  if (::fdatasync(file.get()) != 0) throw_file_error(errno, "cannot sync " + path);
}

void sync_directory_of(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  const FileHandle opened = open_or_throw(directory, O_RDONLY | O_DIRECTORY);
  if (::fsync(opened.get()) != 0) throw_file_error(errno, "cannot sync " + directory);
}

void rename_to(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  // Not every file system knows the flag; the name was free when it was chosen.
  if (errno == EINVAL && !status_of_path(to) && ::rename(from.c_str(), to.c_str()) == 0) return;
  throw_file_error(errno, "cannot rename " + from + " to " + to);
}

void replace_file(const std::string& path, std::string_view content) {
  const std::string next = path + ".tmp";
  {
    const FileHandle file = open_or_throw(next, O_WRONLY | O_CREAT | O_TRUNC);
    write_at(file, next, content, 0);
    if (::fsync(file.get()) != 0) throw_file_error(errno, "cannot sync " + next);
  }
  if (::rename(next.c_str(), path.c_str()) != 0) throw_file_error(errno, "cannot rename " + next + " to " + path);
  sync_directory_of(path);
}

std::optional<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  if (fd < 0) throw_file_error(errno, "cannot open " + path);
  const FileHandle file(fd);
  const FileStatus status = status_of(file, path);
  if (status.size > max_bytes) throw_file_error(EFBIG, "cannot read " + path);
  std::string content(status.size, '\0');
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t got = ::pread(fd, content.data() + done, content.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_file_error(errno, "cannot read " + path);
    if (got == 0) content.resize(done);
    done += static_cast<std::size_t>(got);
  }
  return content;
}

}  // namespace sluice::file_sink
