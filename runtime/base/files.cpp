// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

namespace sluice::files {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int value) : value_(value) {}
  ~FileDescriptor() {
    if (value_ >= 0) ::close(value_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool valid() const { return value_ >= 0; }

 private:
  int value_;
};

Error file_error(std::string_view verb, const std::filesystem::path& file) {
  return errno_error(errno, fmt::format("{} {}", verb, file.string()));
}

Result<void> write_all(int descriptor, std::string_view contents, const std::filesystem::path& file) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(file_error("write", file));
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) return fail(file_error("open", folder));
  if (::fsync(descriptor.get()) != 0) return fail(file_error("sync", folder));
  return {};
}

Result<void> write_and_sync(const std::filesystem::path& file, std::string_view contents, std::uint32_t mode) {
  const FileDescriptor descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!descriptor.valid()) return fail(file_error("create", file));
  if (::fchmod(descriptor.get(), mode) != 0) return fail(file_error("set the mode of", file));
  SLUICE_CHECK(write_all(descriptor.get(), contents, file));
  if (::fsync(descriptor.get()) != 0) return fail(file_error("sync", file));
  return {};
}

}  // namespace

Result<std::string> read(const std::filesystem::path& file, std::uint64_t bytes_max) {
  // Without O_NONBLOCK a FIFO in the place of the file would hold the daemon for ever.
  const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.valid()) return fail(file_error("open", file));
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) return fail(file_error("inspect", file));
  if (S_ISDIR(status.st_mode)) return fail(Errc::kInvalidArgument, fmt::format("{} is a folder, a file is needed", file.string()));
  std::string contents;
  constexpr std::size_t kChunkBytes = 64 * 1024;
  while (true) {
    const std::size_t at = contents.size();
    contents.resize(at + kChunkBytes);
    const ssize_t count = ::read(descriptor.get(), contents.data() + at, kChunkBytes);
    if (count < 0 && errno != EINTR) return fail(file_error("read", file));
    contents.resize(at + static_cast<std::size_t>(count < 0 ? 0 : count));
    if (count == 0) return contents;
    if (contents.size() > bytes_max) {
      return fail(Errc::kLimit, fmt::format("{} is larger than the {} bytes allowed here", file.string(), bytes_max));
    }
  }
}

Result<void> write_atomically(const std::filesystem::path& file, std::string_view contents, std::uint32_t mode) {
  std::filesystem::path temporary = file;
  temporary += ".tmp";
  if (auto written = write_and_sync(temporary, contents, mode); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), file.c_str()) != 0) {
    Error error = file_error("replace", file);
    ::unlink(temporary.c_str());
    return fail(std::move(error));
  }
  return sync_folder(file.has_parent_path() ? file.parent_path() : std::filesystem::path("."));
}

}  // namespace sluice::files
