// SPDX-License-Identifier: Apache-2.0
// From validated trees, defaults filled in, to the structs. Relations between keys are checked here, each a finding at its place.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/config/loader.hpp"
#include "runtime/config/tree.hpp"

namespace sluice::config {

// `file` is absolute. A tree without data_dir gives an empty one.
[[nodiscard]] DaemonConfig bind_daemon(const Tree& tree, const std::filesystem::path& file);

// Everything but plugin_config and secrets. The tree has every required key.
[[nodiscard]] ConnectorConfig bind_connector(const Tree& tree);

// What single values cannot tell: limits the wrong way round, a topic named twice, keys of the other type. Before fill_defaults.
void check_written(const Tree& tree, std::vector<Finding>& findings);
void check_relations(const Tree& tree, std::vector<Finding>& findings);

}  // namespace sluice::config
