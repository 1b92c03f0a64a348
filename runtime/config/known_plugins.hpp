// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/config/loader.hpp"

namespace sluice::config {

inline constexpr std::size_t kPluginsAskedAtOnceMax = 16;

using KnownPlugins = std::map<std::string, Result<std::vector<PluginConnector>>>;

// Asks for each of these plugins once, side by side: one that hangs while it is inspected holds up the others no longer than itself.
[[nodiscard]] KnownPlugins ask_plugins(const std::set<std::string>& names, const SchemaSource& schemas);

}  // namespace sluice::config
