// SPDX-License-Identifier: Apache-2.0
// From files and environment variables to DaemonConfig and ConnectorConfig. Everything is validated against one schema (schemas.hpp and
// the plugins' own) before anything starts; docs/reference/config.md is generated from the same schema.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/config/connector_config.hpp"
#include "runtime/config/daemon_config.hpp"

namespace sluice::config {

enum class Errc : std::uint8_t { kUnreadable, kInvalid };
[[nodiscard]] const ErrorInfo& error_info(Errc code);

// Name → value. Only names that begin with SLUICE__ configure; the others serve ${env:NAME}.
using Environment = std::map<std::string, std::string>;
// The environment of this process.
[[nodiscard]] Environment process_environment();

// What the loader must know of one connector inside a plugin.
struct PluginConnector {
  std::string id;
  ConnectorType type = ConnectorType::kSource;
  std::string config_schema_json;  // JSON Schema of [plugin_config]; empty = takes no configuration
};
// `plugin = "…"` of a connector file → the connectors in that plugin. Called at most once per plugin name and load, for several names at
// once from threads of their own; its errors become the connector's error, at the position of `plugin`.
using SchemaSource = std::function<Result<std::vector<PluginConnector>>(const std::string& plugin)>;

enum class Severity : std::uint8_t { kWarning, kError };

// One thing to tell the operator. `message` says what is wrong and what to do; to_string puts the place before it.
struct Finding {
  Severity severity = Severity::kError;
  Origin origin;
  std::string message;
};
[[nodiscard]] std::string to_string(const Finding& finding);  // "/etc/sluice/sluice.toml:12:5: error: unknown key …"

// A connector definition that could not be used. The daemon runs the others and shows this one as `error`.
struct RejectedConnector {
  std::string key;      // the key if it could be read, else the file's stem
  std::string file;     // absolute path; or "environment variable X" where no file is at fault
  std::string message;  // every error of this definition, one a line, each with its place
};

struct ConnectorSet {
  std::vector<ConnectorConfig> connectors;  // by key
  std::vector<RejectedConnector> rejected;  // by file
  std::vector<Finding> warnings;
};

// Reads `file` and the SLUICE__ variables that do not name a connector. The error's message has every finding, one a line.
// A relative path in the file is relative to the file's folder; all paths of the result are absolute.
[[nodiscard]] Result<DaemonConfig> load_daemon_config(const std::filesystem::path& file, const Environment& environment);

// Reads <connectors_dir>/*.toml (hidden files are skipped) and the SLUICE__CONNECTORS__ variables. Never fails as a whole: a folder that
// cannot be read is one rejected entry. A missing folder is an empty set.
[[nodiscard]] ConnectorSet load_connectors(const DaemonConfig& daemon, const Environment& environment, const SchemaSource& schemas);

// A topic is made by whichever of its connectors starts first, so all of them must say the same: what the source says that fills it (the
// first by key, if there are several), else what the first sink says. load_connectors() has done it.
void agree_on_topics(std::vector<ConnectorConfig>& connectors);

struct CheckReport {
  std::vector<Finding> findings;        // the daemon's first, then by connector file
  std::vector<std::string> connectors;  // keys of the valid ones
  [[nodiscard]] bool ok() const;        // no error among the findings; warnings are fine
};

// `sluice check`: everything that is wrong or doubtful, without starting anything. An invalid sluice.toml does not keep the connector
// files from being checked. `make_schemas` gets what could be read of the daemon's configuration (its plugin search path).
[[nodiscard]] CheckReport check(const std::filesystem::path& file, const Environment& environment,
                                const std::function<SchemaSource(const DaemonConfig&)>& make_schemas);

}  // namespace sluice::config
