// SPDX-License-Identifier: Apache-2.0
// What load_* and check share: documents read as far as they go, with everything that was found on the way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/config/loader.hpp"
#include "runtime/config/tree.hpp"

namespace sluice::config {

struct DaemonReading {
  DaemonConfig config;    // with errors among the findings: defaults where a value was faulty
  bool was_read = false;  // false: the file could not be read or is not TOML
  std::vector<Finding> findings;
};
[[nodiscard]] DaemonReading read_daemon(const std::filesystem::path& file, const Environment& environment);

struct ConnectorReading {
  std::string key;
  std::string file;
  std::optional<Tree> tree;               // absent if the file could not be read or is not TOML
  std::optional<ConnectorConfig> config;  // present if there are no errors among the findings
  std::vector<Finding> findings;
};
// By file; then one for each connector that only environment variables name.
[[nodiscard]] std::vector<ConnectorReading> read_connectors(const DaemonConfig& daemon, const Environment& environment,
                                                            const SchemaSource& schemas, std::vector<Finding>& folder_findings);

}  // namespace sluice::config
