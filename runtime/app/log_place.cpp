// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/log_place.hpp"

#include <system_error>
#include <utility>

namespace sluice::app {

namespace fs = std::filesystem;

namespace {

constexpr int kLevelsAboveSegment = 3;  // data directory / groups / group / segment

}  // namespace

Result<std::optional<storage::FileLock>> lock_directory_of(const fs::path& path) {
  fs::path place = fs::absolute(path).lexically_normal();
  for (int level = 0; level <= kLevelsAboveSegment; ++level, place = place.parent_path()) {
    std::error_code ignored;
    if (!fs::exists(place / "LOCK", ignored)) continue;
    auto lock = storage::FileLock::acquire((place / "LOCK").string());
    if (!lock) return fail(std::move(lock).error().with("data_dir", place.string()));
    return std::optional<storage::FileLock>(*std::move(lock));
  }
  return std::optional<storage::FileLock>();
}

}  // namespace sluice::app
