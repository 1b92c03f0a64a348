// SPDX-License-Identifier: Apache-2.0
// The few system calls of this connector, with owned descriptors. A failed call throws std::system_error whose text names the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::file_sink {

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

struct FileStatus {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
};

// Opens for writing, creating it if it is missing, and takes its lock. Throws if another process or connector has it.
[[nodiscard]] FileHandle open_and_lock(const std::string& path);
[[nodiscard]] FileStatus status_of(const FileHandle& file, const std::string& path);
// Nothing if there is no such file.
[[nodiscard]] std::optional<FileStatus> status_of_path(const std::string& path);
void write_at(const FileHandle& file, const std::string& path, std::string_view bytes, std::uint64_t offset);
void truncate_to(const FileHandle& file, const std::string& path, std::uint64_t length);
void sync_file(const FileHandle& file, const std::string& path);
void sync_directory_of(const std::string& path);
// Never replaces a file.
void rename_to(const std::string& from, const std::string& to);
// After it the file has the old or the new content, whatever happens; `path`.tmp is used on the way.
void replace_file(const std::string& path, std::string_view content);
// Nothing if there is no such file. Throws if it is longer than `max_bytes`.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace sluice::file_sink
