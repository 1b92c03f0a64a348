// SPDX-License-Identifier: Apache-2.0
// A plugin file on disk: who may change it, what identifies it, and its private copy. Internal to runtime/plugin.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::plugin {

inline constexpr std::uint64_t kPluginFileBytesMax = 512ULL << 20;

// Changes whenever the file is replaced or written in the ordinary way.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;

  friend auto operator<=>(const FileStamp&, const FileStamp&) = default;
};

// The stamp of a regular file that nobody but root and this process's user can change.
// Errors: plugin.not_found, plugin.not_a_library, plugin.writable_by_others.
[[nodiscard]] Result<FileStamp> stamp_of(const std::filesystem::path& file);

// 64 hex digits.
[[nodiscard]] std::string sha256_hex(std::string_view contents);

// Writes `contents` to <copy_dir>/<sha256>/<name>; the folders are for this user alone.
[[nodiscard]] Result<std::filesystem::path> write_private_copy(const std::filesystem::path& copy_dir, std::string_view sha256,
                                                               const std::string& name, std::string_view contents);

// Removes the copies of earlier processes. What cannot be removed stays: it only costs space.
void remove_private_copies(const std::filesystem::path& copy_dir);

}  // namespace sluice::plugin
