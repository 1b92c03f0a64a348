// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/log_place.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/node/start_view.hpp"
#include "core/storage/posix_storage.hpp"
#include "runtime/app/runtime_dir.hpp"

namespace sluice::app {

namespace fs = std::filesystem;

namespace {

constexpr int kLevelsAboveSegment = 3;  // data directory / groups / group / segment
constexpr const char* kGroupsFolder = "groups";

// The group directories of a data directory, or the one that is named.
Result<std::vector<fs::path>> groups_under(const fs::path& path) {
  const fs::path place = fs::absolute(path).lexically_normal();
  if (node::parse_group_directory(place.filename().string())) return std::vector<fs::path>{place};
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(place / kGroupsFolder, error), end; !error && it != end; it.increment(error)) {
    if (node::parse_group_directory(it->path().filename().string())) out.push_back(it->path());
  }
  if (error || out.empty())
    return fail(
        Errc::kNotFound,
        fmt::format("{} is neither a data directory nor the directory of a group in one (groups/<group>-<incarnation>)", path.string()));
  std::ranges::sort(out);
  return out;
}

}  // namespace

Result<LogsAt> logs_at(const fs::path& path, const std::string& runtime_dir) {
  SLUICE_TRY(const auto groups, groups_under(path));
  const fs::path folder = groups.front().parent_path();
  std::error_code ignored;
  LogsAt out;
  std::optional<node::StartView> start;
  if (folder.filename() == kGroupsFolder && fs::exists(folder.parent_path() / "format", ignored)) {
    const std::string place = runtime_dir.empty() ? default_runtime_dir() : runtime_dir;
    SLUICE_TRY(start, node::view_start(storage::posix_storage(), folder.parent_path().string(), place));
    out.witness_place = place;
    out.witness_ignored = start->witness_ignored;
  }
  for (const fs::path& directory : groups) {
    const auto group = node::parse_group_directory(directory.filename().string());
    log::LogOptions options;
    options.group = group->group;
    options.incarnation = group->incarnation;
    options.must_exist = true;
    if (start) options = start->options_of(*group);
    options.directory = directory.string();
    out.logs.push_back(std::move(options));
  }
  return out;
}

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
