// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

#include <fmt/format.h>

namespace sluice::files {
namespace {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int value) : value_(value) {}
  ~FileDescriptor() { reset(-1); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  void reset(int value) {
    if (value_ >= 0) ::close(value_);
    value_ = value;
  }
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool valid() const { return value_ >= 0; }

 private:
  int value_ = -1;
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

// Opens for reading; a folder is an error. The size is what the file says of itself: 0 for a pipe or a file of /proc.
Result<std::uint64_t> open_to_read(const std::filesystem::path& file, FileDescriptor& out) {
  // Without O_NONBLOCK a FIFO in the place of the file would hold the daemon for ever.
  out.reset(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!out.valid()) return fail(file_error("open", file));
  struct stat status{};
  if (::fstat(out.get(), &status) != 0) return fail(file_error("inspect", file));
  if (S_ISDIR(status.st_mode)) return fail(Errc::kInvalidArgument, fmt::format("{} is a folder, a file is needed", file.string()));
  return static_cast<std::uint64_t>(status.st_size);
}

std::unexpected<Error> too_large(const std::filesystem::path& file, std::uint64_t bytes_max) {
  return fail(Errc::kLimit, fmt::format("{} is larger than the {} bytes allowed here", file.string(), bytes_max));
}

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<char*>(pages);
}

Pages::~Pages() {
  if (begin_ != nullptr) ::munmap(begin_, bytes_);
}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<Pages> read_into_pages(const std::filesystem::path& file, std::uint64_t bytes_max) {
  FileDescriptor descriptor;
  SLUICE_TRY(const std::uint64_t size, open_to_read(file, descriptor));
  if (size > bytes_max) return too_large(file, bytes_max);
  Pages pages(static_cast<std::size_t>(size));
  for (std::size_t at = 0; at < size;) {
    const ssize_t count = ::read(descriptor.get(), pages.data() + at, static_cast<std::size_t>(size) - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(file_error("read", file));
    if (count == 0) return fail(Errc::kIo, fmt::format("{} became shorter while it was read; try again", file.string()));
    at += static_cast<std::size_t>(count);
  }
  return pages;
}

Result<std::string> read(const std::filesystem::path& file, std::uint64_t bytes_max) {
  FileDescriptor descriptor;
  SLUICE_CHECK(open_to_read(file, descriptor));
  std::string contents;
  constexpr std::size_t kChunkBytes = 64 * 1024;
  while (true) {
    const std::size_t at = contents.size();
    contents.resize(at + kChunkBytes);
    const ssize_t count = ::read(descriptor.get(), contents.data() + at, kChunkBytes);
    if (count < 0 && errno != EINTR) return fail(file_error("read", file));
    contents.resize(at + static_cast<std::size_t>(count < 0 ? 0 : count));
    if (count == 0) return contents;
    if (contents.size() > bytes_max) return too_large(file, bytes_max);
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

Result<std::filesystem::path> own_program() {
  std::error_code error;
  auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(errno_error(error.value(), "cannot tell where this program is: /proc/self/exe"));
  return program;
}

}  // namespace sluice::files
