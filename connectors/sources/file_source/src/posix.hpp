// SPDX-License-Identifier: Apache-2.0
// The few system calls of this connector, with owned descriptors. A failed call throws std::system_error whose text names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice::file_source {

// An open file descriptor, closed with its owner. Not shared between threads.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileHandle();

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// What stays with a file through a rename.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
  friend auto operator<=>(const FileId&, const FileId&) = default;
};

struct FileStatus {
  FileId id;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  bool regular = false;

  friend bool operator==(const FileStatus&, const FileStatus&) = default;
};

[[nodiscard]] FileHandle open_for_reading(const std::string& path);
[[nodiscard]] FileStatus status_of(const FileHandle& file, const std::string& path);
// False: there is no such file (any more). Follows symbolic links.
[[nodiscard]] bool status_of_path(const std::string& path, FileStatus& status);
// Reads up to `count` bytes at `offset` into `out`, which must have room; fewer only at the end of the file.
[[nodiscard]] std::size_t read_at(const FileHandle& file, const std::string& path, char* out, std::size_t count, std::uint64_t offset);

[[noreturn]] void throw_errno(int error_number, const std::string& what);

}  // namespace sluice::file_source
