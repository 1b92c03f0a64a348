// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "runtime/app/offline.hpp"
#include "runtime/app/plugin_schemas.hpp"
#include "runtime/app/table.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

json::object plugin_json(const plugin::PluginDescription& plugin) {
  json::object out;
  out["id"] = plugin.id;
  out["file"] = plugin.file.string();
  out["version"] = plugin.version;
  out["sdk_version"] = plugin.sdk_version;
  out["build_id"] = plugin.build_id;
  out["abi_minor"] = plugin.abi_minor;
  json::array connectors;
  for (const auto& connector : plugin.connectors) {
    json::object row;
    row["id"] = connector.id;
    row["type"] = connector.is_sink ? "sink" : "source";
    row["summary"] = connector.summary;
    row["version"] = connector.version;
    row["replay_idempotent"] = connector.replay_idempotent;
    row["ordered"] = connector.ordered;
    row["own_positions"] = connector.own_positions;
    row["batches_in_flight_max"] = connector.batches_in_flight_max;
    boost::system::error_code error;
    const json::value schema = json::parse(connector.config_schema_json, error);
    row["config_schema"] = error ? json::value(nullptr) : schema;
    connectors.push_back(std::move(row));
  }
  out["connectors"] = std::move(connectors);
  return out;
}

std::string text_of_member(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr) return "";
  return value->is_string() ? std::string(std::string_view(value->get_string())) : json::serialize(*value);
}

// One line per key of the schema, nested ones with their path.
void add_keys(Table& table, const json::object& schema, const std::string& prefix) {
  const json::value* properties = schema.if_contains("properties");
  if (properties == nullptr || !properties->is_object()) return;
  const json::value* required = schema.if_contains("required");
  for (const auto& property : properties->get_object()) {
    const json::object* rules = property.value().if_object();
    if (rules == nullptr) continue;
    const std::string name = prefix + std::string(property.key());
    const bool needed =
        required != nullptr && required->is_array() &&
        std::ranges::any_of(required->get_array(), [&](const json::value& key) { return key == json::value(property.key()); });
    table.add({name, text_of_member(*rules, "type"), needed ? "required" : text_of_member(*rules, "default"),
               text_of_member(*rules, "description")});
    add_keys(table, *rules, name + ".");
  }
}

void print_plugin(const Console& console, const plugin::PluginDescription& plugin) {
  console.print(describe({{"plugin", plugin.id},
                          {"file", plugin.file.string()},
                          {"version", plugin.version},
                          {"SDK", plugin.sdk_version},
                          {"ABI minor", std::to_string(plugin.abi_minor)}}));
  for (const auto& connector : plugin.connectors) {
    console.print(
        fmt::format("\n{} {} {}: {}\n", connector.is_sink ? "sink" : "source", connector.id, connector.version, connector.summary));
    console.print(fmt::format("  replay is idempotent: {}, keeps order: {}, keeps its own positions: {}\n\n", connector.replay_idempotent,
                              connector.ordered, connector.own_positions));
    boost::system::error_code error;
    const json::value schema = json::parse(connector.config_schema_json, error);
    Table table({"KEY", "TYPE", "DEFAULT", "MEANING"});
    if (!error && schema.is_object()) add_keys(table, schema.get_object(), "");
    console.print(table.empty() ? "takes no configuration\n" : table.text());
  }
}

Result<std::shared_ptr<plugin::PluginCatalog>> catalog_of(const PluginPlaces& places) {
  SLUICE_TRY(const config::DaemonConfig daemon, daemon_config_of(places));
  return make_plugin_catalog(daemon, {});
}

}  // namespace

Result<config::DaemonConfig> daemon_config_of(const PluginPlaces& places) {
  config::DaemonConfig daemon;
  std::error_code ignored;
  if (places.config_given || std::filesystem::exists(places.config, ignored)) {
    SLUICE_TRY(daemon, config::load_daemon_config(places.config, config::process_environment()));
  }
  daemon.plugin_path.insert(daemon.plugin_path.begin(), places.search.begin(), places.search.end());
  return daemon;
}

Result<ExitCode> plugin_list(const Console& console, const PluginPlaces& places) {
  SLUICE_TRY(const auto catalog, catalog_of(places));
  const auto found = catalog->list();
  json::array rows;
  Table table({"PLUGIN", "CONNECTOR", "TYPE", "VERSION", "FILE", "PROBLEM"});
  bool all_usable = true;
  for (const auto& [file, outcome] : found) {
    if (!outcome) {
      all_usable = false;
      json::object row;
      row["file"] = file.string();
      row["problem"] = outcome.error().to_string();
      rows.push_back(std::move(row));
      table.add({file.stem().string(), "-", "-", "-", file.string(), outcome.error().to_string()});
      continue;
    }
    rows.push_back(plugin_json(*outcome));
    for (const auto& connector : outcome->connectors) {
      table.add({outcome->id, connector.id, connector.is_sink ? "sink" : "source", connector.version, file.string(), ""});
    }
  }
  if (console.json()) {
    json::object out;
    out["plugins"] = std::move(rows);
    console.print_json(out);
  } else {
    console.print(table.empty() ? "no plugins found; name a folder with --plugin-path or [plugins] path\n" : table.text());
  }
  return all_usable ? ExitCode::kOk : ExitCode::kFailure;
}

Result<ExitCode> plugin_inspect(const Console& console, const PluginPlaces& places, const std::string& plugin) {
  SLUICE_TRY(const auto catalog, catalog_of(places));
  SLUICE_TRY(const auto description, catalog->inspect(plugin));
  if (console.json()) {
    console.print_json(plugin_json(description));
  } else {
    print_plugin(console, description);
  }
  return ExitCode::kOk;
}

}  // namespace sluice::app
