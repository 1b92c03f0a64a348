// SPDX-License-Identifier: Apache-2.0
#include "core/storage/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include <fmt/format.h>

#include "core/storage/errc.hpp"

namespace sluice::storage {
namespace {

std::string lock_holder(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  if (got <= 0) return "unknown";
  const std::string_view digits(text.data(), static_cast<std::size_t>(got));
  const std::size_t length = digits.find_first_not_of("0123456789");
  const std::string_view pid = digits.substr(0, length);
  return pid.empty() ? "unknown" : std::string(pid);
}

}  // namespace

Result<FileLock> FileLock::acquire(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (descriptor < 0) return fail(errno_error(errno, fmt::format("cannot open the lock file '{}'", path)));
  FileLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error_number = errno;
    if (error_number != EWOULDBLOCK) return fail(errno_error(error_number, fmt::format("cannot lock '{}'", path)));
    const std::string holder = lock_holder(descriptor);
    return fail(Error(Errc::kLocked, fmt::format("'{}' is locked by process {}", path, holder)).with("pid", holder));
  }
  // Only a message needs the process id: a full disk must not keep anybody from working on it.
  const std::string pid = fmt::format("{}\n", ::getpid());
  const bool noted = ::ftruncate(descriptor, 0) == 0 && ::pwrite(descriptor, pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  static_cast<void>(noted);
  return lock;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace sluice::storage
