// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/plugin_schemas.hpp"

#include <string>
#include <utility>

namespace sluice::app {

std::shared_ptr<plugin::PluginCatalog> make_plugin_catalog(const config::DaemonConfig& daemon, const std::filesystem::path& copy_dir) {
  return std::make_shared<plugin::PluginCatalog>(plugin::PluginCatalog::Options{
      .search_path = daemon.plugin_path, .probe_program = {}, .copy_dir = copy_dir, .probe_timeout = daemon.plugin_probe_timeout});
}

config::SchemaSource schemas_of(std::shared_ptr<plugin::PluginCatalog> plugins) {
  return [plugins = std::move(plugins)](const std::string& name) -> Result<std::vector<config::PluginConnector>> {
    SLUICE_TRY(const auto description, plugins->inspect(name));
    std::vector<config::PluginConnector> out;
    for (const auto& connector : description.connectors) {
      out.push_back({.id = connector.id,
                     .type = connector.is_sink ? config::ConnectorType::kSink : config::ConnectorType::kSource,
                     .config_schema_json = connector.config_schema_json});
    }
    return out;
  };
}

}  // namespace sluice::app
