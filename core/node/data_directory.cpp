// SPDX-License-Identifier: Apache-2.0
#include "core/node/data_directory.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/node/errc.hpp"

namespace sluice::node {
namespace {

constexpr const char* kLockName = "LOCK";
constexpr const char* kFormatName = "format";
constexpr const char* kGenerationName = "generation";
constexpr const char* kGroupsName = "groups";
constexpr const char* kTrashName = "trash";
constexpr std::uint64_t kFormatBytesMax = 4096;

template <typename T>
std::optional<T> parse_decimal(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool contains_name(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The value of "name = value" on a line of its own.
std::optional<std::string_view> format_value(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(name) && line.substr(name.size()).starts_with(" = ")) return line.substr(name.size() + 3);
  }
  return std::nullopt;
}

Result<void> remove_tree(storage::Storage& storage, const std::string& path) {
  SLUICE_TRY(const auto names, storage.list(path));
  for (const std::string& name : names) SLUICE_CHECK(storage.remove(fmt::format("{}/{}", path, name)));
  return storage.remove_directory(path);
}

}  // namespace

std::string to_string(GroupDirectory directory) {
  return fmt::format("{}-{}", directory.group, directory.incarnation);
}

std::optional<GroupDirectory> parse_group_directory(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto group = parse_decimal<std::uint64_t>(name.substr(0, dash));
  const auto incarnation = parse_decimal<std::uint64_t>(name.substr(dash + 1));
  if (!group || !incarnation) return std::nullopt;
  const GroupDirectory directory{GroupId(*group), Incarnation(*incarnation)};
  return to_string(directory) == name ? std::optional(directory) : std::nullopt;
}

Result<U128> read_cluster_id(storage::Storage& storage, const std::string& path) {
  const std::string file = fmt::format("{}/{}", path, kFormatName);
  SLUICE_TRY(const ByteVector bytes, storage::read_file(storage, file, kFormatBytesMax));
  const std::string_view text = as_text(bytes);
  const auto version_text = format_value(text, "format");
  const auto version = version_text ? parse_decimal<std::uint32_t>(*version_text) : std::nullopt;
  if (!version || *version == 0) return fail(Errc::kDamagedDirectory, fmt::format("'{}' has no line 'format = <number>'", file));
  if (*version > kDirectoryFormat) {
    return fail(Errc::kNewerFormat, fmt::format("the data directory '{}' has format version {}, this release reads versions up to {}", path,
                                                *version, kDirectoryFormat));
  }
  const auto cluster_text = format_value(text, "cluster");
  const auto cluster = cluster_text ? u128_from_hex(*cluster_text) : std::nullopt;
  if (!cluster) return fail(Errc::kDamagedDirectory, fmt::format("'{}' has no line 'cluster = <32 hex digits>'", file));
  return *cluster;
}

Result<std::optional<U128>> read_generation(storage::Storage& storage, const std::string& path) {
  const auto bytes = storage::read_file(storage, fmt::format("{}/{}", path, kGenerationName), kFormatBytesMax);
  if (!bytes && storage::is_absent(bytes.error())) return std::nullopt;
  if (!bytes) return fail(bytes.error());
  const auto text = format_value(as_text(*bytes), kGenerationName);
  return text ? u128_from_hex(*text) : std::nullopt;
}

std::string group_path(const std::string& data_dir, GroupDirectory directory) {
  return fmt::format("{}/{}/{}", data_dir, kGroupsName, to_string(directory));
}

Result<DataDirectory> DataDirectory::open(storage::Storage& storage, std::string path, Random& random) {
  SLUICE_CHECK(storage.make_directories(path));
  auto lock = storage.lock(fmt::format("{}/{}", path, kLockName));
  if (!lock) return fail(std::move(lock).error().with("data_dir", path));
  DataDirectory directory(storage, std::move(path), *std::move(lock));
  SLUICE_TRY(const auto names, storage.list(directory.path_));
  if (contains_name(names, kFormatName)) {
    SLUICE_TRY(directory.cluster_id_, read_cluster_id(storage, directory.path_));
  } else {
    SLUICE_CHECK(directory.check_new(names));
    directory.is_new_ = true;
    directory.cluster_id_ = random.next_u128();
  }
  // What an earlier run renamed or made here, it may not have synced: from now on it counts.
  for (const char* name : {kTrashName, kGroupsName}) {
    SLUICE_CHECK(storage.make_directories(fmt::format("{}/{}", directory.path_, name)));
    SLUICE_CHECK(storage.sync_directory(fmt::format("{}/{}", directory.path_, name)));
  }
  SLUICE_CHECK(storage.sync_directory(directory.path_));
  return directory;
}

Result<void> DataDirectory::check_new(const std::vector<std::string>& names) const {
  static constexpr std::array<std::string_view, 5> kLeftovers{kLockName, kGroupsName, kTrashName, "format.staging", "lost+found"};
  for (const std::string& name : names) {
    if (!contains_name(kLeftovers, name)) {
      return fail(Errc::kForeignDirectory,
                  fmt::format("'{}' is not a data directory: it has '{}' but no file '{}'", path_, name, kFormatName));
    }
  }
  if (!contains_name(names, kGroupsName)) return {};
  SLUICE_TRY(const auto groups, list_groups());
  for (const GroupDirectory group : groups) {
    if (group.group == kMetadataGroup) continue;
    return fail(Errc::kDamagedDirectory,
                fmt::format("'{}' has the partition '{}/{}' but no file '{}'", path_, kGroupsName, to_string(group), kFormatName));
  }
  return {};
}

Result<void> DataDirectory::finish_format() {
  const std::string text = fmt::format("format = {}\ncluster = {}\n", kDirectoryFormat, to_hex(cluster_id_));
  SLUICE_CHECK(storage::replace_file(*storage_, path_, kFormatName, as_bytes(text)));
  is_new_ = false;
  return {};
}

Result<std::optional<U128>> DataDirectory::generation() const {
  return read_generation(*storage_, path_);
}

Result<bool> DataDirectory::begin_generation(std::optional<U128> generation) const {
  if (generation) {
    const std::string text = fmt::format("{} = {}\n", kGenerationName, to_hex(*generation));
    auto written = storage::replace_file(*storage_, path_, kGenerationName, as_bytes(text));
    if (written) return true;
    if (!written.error().is(sluice::Errc::kNoSpace)) return fail(std::move(written).error());
  }
  if (auto removed = storage_->remove(fmt::format("{}/{}", path_, kGenerationName)); !removed) {
    if (storage::is_absent(removed.error())) return false;
    return fail(std::move(removed).error());
  }
  SLUICE_CHECK(storage_->sync_directory(path_));
  return false;
}

std::string DataDirectory::group_path(GroupDirectory directory) const {
  return node::group_path(path_, directory);
}

Result<std::vector<GroupDirectory>> DataDirectory::list_groups() const {
  SLUICE_TRY(const auto names, storage_->list(fmt::format("{}/{}", path_, kGroupsName)));
  std::vector<GroupDirectory> out;
  for (const std::string& name : names) {
    if (const auto directory = parse_group_directory(name)) out.push_back(*directory);
  }
  std::ranges::sort(out);
  return out;
}

Result<bool> DataDirectory::has_group(GroupDirectory directory) const {
  const auto names = storage_->list(group_path(directory));
  if (names) return true;
  if (storage::is_absent(names.error())) return false;
  return fail(names.error());
}

Result<void> DataDirectory::move_to_trash(GroupDirectory directory) const {
  if (SLUICE_MUTATED(kDeletedInPlace)) return remove_tree(*storage_, group_path(directory));
  SLUICE_CHECK(storage_->rename(group_path(directory), fmt::format("{}/{}/{}", path_, kTrashName, to_string(directory))));
  if (!SLUICE_MUTATED(kTrashUnsynced)) SLUICE_CHECK(storage_->sync_directory(fmt::format("{}/{}", path_, kGroupsName)));
  return storage_->sync_directory(fmt::format("{}/{}", path_, kTrashName));
}

std::vector<Error> DataDirectory::empty_trash() const {
  const std::string trash = fmt::format("{}/{}", path_, kTrashName);
  const auto names = storage_->list(trash);
  if (!names) return {names.error()};
  std::vector<Error> failures;
  for (const std::string& name : *names) {
    if (auto removed = remove_tree(*storage_, fmt::format("{}/{}", trash, name)); !removed) failures.push_back(std::move(removed).error());
  }
  if (auto synced = storage_->sync_directory(trash); !synced) failures.push_back(std::move(synced).error());
  return failures;
}

}  // namespace sluice::node
