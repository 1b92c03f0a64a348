// SPDX-License-Identifier: Apache-2.0
// What is taken out of a log is never deleted: it is kept beside it as `<name>.cut-<n>`. These names are never reused.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

inline constexpr int kSetAsideMax = 1000;  // for one name

struct FileRange {
  std::string path;
  std::uint64_t position = 0;
  std::uint64_t end = 0;
};
// Copies the bytes, durably, unless an earlier attempt has put just these there. The copy's path. Errors: base.limit, I/O. [blocking]
[[nodiscard]] Result<std::string> copy_aside(storage::Storage& storage, const std::string& directory, const FileRange& range);

// Renames the whole file; the caller syncs the directory. Its new path. Errors: base.limit, I/O. [blocking]
[[nodiscard]] Result<std::string> move_aside(storage::Storage& storage, const std::string& path);

}  // namespace sluice::log
