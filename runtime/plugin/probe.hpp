// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

inline constexpr std::size_t kProbeOutputBytesMax = 80u << 20;  // kPluginConnectorsMax schemas and their escapes
inline constexpr std::size_t kProbeStderrBytesKept = 2048;

// Runs `<program> --probe <file>` in a process group of its own and reads its answer. Whatever the plugin does there is the plugin's error:
// plugin.crashed with the signal and the end of its standard error, plugin.timeout, or what the probe found. Blocks for at most `timeout`
// and a little. Any thread.
[[nodiscard]] Result<PluginDescription> probe(const std::filesystem::path& program, const std::filesystem::path& file,
                                              std::string_view name, std::chrono::milliseconds timeout);

}  // namespace sluice::plugin
