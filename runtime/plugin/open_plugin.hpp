// SPDX-License-Identifier: Apache-2.0
// Loads a library into this process and reads what it says of itself. Used by the probe, where it may kill the process, and then by the
// daemon. Internal to runtime/plugin.
#pragma once

#include <filesystem>

#include <sluice/abi/entry.h>

#include "core/base/result.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

inline constexpr std::size_t kPluginTextBytesMax = 256;      // id, versions, build id, summary
inline constexpr std::uint32_t kPluginConnectorsMax = 64;    // per library
inline constexpr std::uint32_t kRequiredExtensionsMax = 32;  // per connector
inline constexpr std::uint32_t kBatchesInFlightMax = 1024;

struct OpenedPlugin {
  PluginDescription description;
  const sluice_entry* entry = nullptr;
  const sluice_connector_factory* factory = nullptr;
};

// Maps the file for the rest of the process, checks the entry, calls init, and reads descriptors and schemas. `name` is for messages.
// Errors: all of Errc that only loading can find.
[[nodiscard]] Result<OpenedPlugin> open_plugin(const std::filesystem::path& file, std::string_view name);

// The same for a library that is already mapped.
[[nodiscard]] Result<OpenedPlugin> open_entry(const sluice_entry& entry, std::string_view name);

}  // namespace sluice::plugin
