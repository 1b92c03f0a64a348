// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/storage/storage.hpp"

namespace sluice::storage {

// The operating system's file system: buffered pwritev and pread, fdatasync. [any thread]
[[nodiscard]] Storage& posix_storage();

}  // namespace sluice::storage
