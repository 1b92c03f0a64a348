// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string_view>

#include "core/base/result.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

// Runs `<program> --probe <file>` and reads its answer. Errors: those of ask_plugin_host, or what the probe found. Any thread.
[[nodiscard]] Result<PluginDescription> probe(const std::filesystem::path& program, const std::filesystem::path& file,
                                              std::string_view name, std::chrono::milliseconds timeout);

}  // namespace sluice::plugin
