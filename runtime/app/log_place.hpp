// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "core/base/result.hpp"
#include "core/storage/file_lock.hpp"

namespace sluice::app {

// The lock of the data directory that `path` is or lies in; none if it lies in none (a copy that was set aside, for example).
[[nodiscard]] Result<std::optional<storage::FileLock>> lock_directory_of(const std::filesystem::path& path);

}  // namespace sluice::app
