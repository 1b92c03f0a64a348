// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/loader.hpp"
#include "runtime/config/tree.hpp"

namespace sluice::config {

// [plugin_config] as it crosses to the plugin.
struct PluginConfig {
  std::string json;
  std::map<std::string, Origin> origins;  // JSON pointer → place; "" is the whole
};

// 64-bit integers stay exact; inf and nan, which JSON cannot hold, are findings.
[[nodiscard]] PluginConfig to_plugin_config(const Tree& tree, std::vector<Finding>& findings);

// The last word on [plugin_config]: what the plugin's JSON Schema says, each violation at the place of its value. Never prints a value.
void judge_by_json_schema(const PluginConfig& config, std::string_view json_schema, std::vector<Finding>& findings);

// "plugin_config.headers.x" for the JSON pointer "/headers/x".
[[nodiscard]] std::string pointer_path(std::string_view pointer);

// The place a JSON pointer names, or of the nearest thing around it that is known.
[[nodiscard]] Origin origin_of_pointer(const std::map<std::string, Origin>& origins, std::string_view pointer);

}  // namespace sluice::config
