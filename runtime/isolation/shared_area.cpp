// SPDX-License-Identifier: Apache-2.0
#include "runtime/isolation/shared_area.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/isolation/message.hpp"

namespace sluice::isolation {

Result<SharedArea> SharedArea::create() {
  plugin::Fd fd(::memfd_create("sluice-plugin-area", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return fail(errno_error(errno, "making the shared memory of a plugin's process"));
  if (::ftruncate(fd.get(), 2 * kAreaBytes) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail(errno_error(errno, "sizing the shared memory of a plugin's process"));
  }
  return attach(std::move(fd));
}

Result<SharedArea> SharedArea::attach(plugin::Fd fd) {
  void* const begin = ::mmap(nullptr, 2 * kAreaBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (begin == MAP_FAILED) return fail(errno_error(errno, "mapping the shared memory of a plugin's process"));
  return SharedArea(std::move(fd), static_cast<std::byte*>(begin));
}

SharedArea::~SharedArea() {
  if (begin_ != nullptr) ::munmap(begin_, 2 * kAreaBytes);
}

MutableBytes SharedArea::arguments() const {
  return {begin_, kAreaBytes};
}

MutableBytes SharedArea::results() const {
  return {begin_ + kAreaBytes, kAreaBytes};
}

}  // namespace sluice::isolation
