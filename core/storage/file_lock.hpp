// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "core/base/result.hpp"

namespace sluice::storage {

// The exclusive lock on a file, held until destruction or the death of the process, whichever way it dies. The file stays and holds the
// process id of its last holder, if there was room for it: for messages only. Two locks of one process exclude each other too. Movable, any
// thread.
class FileLock {
 public:
  // Creates the file if need be; does not wait. Errors: storage.locked naming the holder's process id, base.io.
  [[nodiscard]] static Result<FileLock> acquire(const std::string& path);

  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace sluice::storage
