// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/log/entry_log.hpp"
#include "core/storage/file_lock.hpp"

namespace sluice::app {

// The lock of the data directory that `path` is or lies in; none if it lies in none (a copy that was set aside, for example).
[[nodiscard]] Result<std::optional<storage::FileLock>> lock_directory_of(const std::filesystem::path& path);

// The logs at a place, as a start opens them.
struct LogsAt {
  std::vector<log::LogOptions> logs;
  std::string witness_place;             // where a witness was looked for; empty: the place is in no data directory
  std::optional<Error> witness_ignored;  // why it is not believed
};
// Of a data directory, or of one group's directory in one, or of a copy of that. An empty runtime_dir: the default place.
[[nodiscard]] Result<LogsAt> logs_at(const std::filesystem::path& path, const std::string& runtime_dir);

}  // namespace sluice::app
