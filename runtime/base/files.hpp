// SPDX-License-Identifier: Apache-2.0
// The daemon's own small files: configuration, pid, port, sidecars. The log's files go through core/storage instead.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::files {

inline constexpr std::uint64_t kReadBytesMax = 4ULL << 20;

// The whole file. Larger than bytes_max, a folder, or unreadable: an error that names the file. [any thread, blocks]
[[nodiscard]] Result<std::string> read(const std::filesystem::path& file, std::uint64_t bytes_max = kReadBytesMax);

// Replaces the file as a whole: after a crash it has the old contents or the new ones, never a mixture, and once this has returned it has
// the new ones. Writes <file>.tmp beside it, syncs, renames, syncs the folder. `mode` applies whatever the umask says.
[[nodiscard]] Result<void> write_atomically(const std::filesystem::path& file, std::string_view contents, std::uint32_t mode = 0644);

}  // namespace sluice::files
