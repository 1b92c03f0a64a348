// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace sluice::isolation {

// The life of a plugin's process: `sluice-plugin-host --serve FILE MEMORY_BYTES`, started by PluginProcess with its descriptors in place.
// Returns the exit code once the daemon has closed its end of the calls.
[[nodiscard]] int serve(const std::filesystem::path& file, std::uint64_t memory_bytes_max);

}  // namespace sluice::isolation
