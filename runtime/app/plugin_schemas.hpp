// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "runtime/config/loader.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::app {

// The plugins of a configuration, and what its connectors may say, by asking the plugins themselves. `copy_dir` may be empty where nothing
// is loaded.
[[nodiscard]] std::shared_ptr<plugin::PluginCatalog> make_plugin_catalog(const config::DaemonConfig& daemon,
                                                                         const std::filesystem::path& copy_dir);
[[nodiscard]] config::SchemaSource schemas_of(std::shared_ptr<plugin::PluginCatalog> plugins);

}  // namespace sluice::app
