// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/loader.hpp"

#include <map>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runtime/config/reading.hpp"
#include "runtime/config/validate.hpp"

namespace sluice::config {
namespace {

std::vector<Finding> of_severity(const std::vector<Finding>& findings, Severity severity) {
  std::vector<Finding> out;
  std::ranges::copy_if(findings, std::back_inserter(out), [&](const Finding& finding) { return finding.severity == severity; });
  return out;
}

}  // namespace

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 2> kTable{{
      {"config.unreadable", ErrorKind::kInvalidInput,
       "A configuration file could not be opened, read or understood as TOML. The message names the file and, for a syntax error, the line "
       "and "
       "column. Check the path given with --config and the file's permissions."},
      {"config.invalid", ErrorKind::kInvalidInput,
       "The configuration has a key that does not exist, a value of the wrong type or out of its range, or a reference that cannot be "
       "resolved. "
       "Each line of the message names the place; docs/reference/config.md lists every key. `sluice check` finds all of them at once."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

std::string to_string(const Origin& origin) {
  if (!origin.variable.empty()) return fmt::format("environment variable {}", origin.variable);
  if (origin.line == 0) return origin.file;
  return fmt::format("{}:{}:{}", origin.file, origin.line, origin.column);
}

std::string to_string(const Finding& finding) {
  return fmt::format("{}: {}: {}", to_string(finding.origin), finding.severity == Severity::kError ? "error" : "warning", finding.message);
}

void agree_on_topics(std::vector<ConnectorConfig>& connectors) {
  std::map<client::TopicName, client::TopicOptions> said;
  for (const ConnectorType type : {ConnectorType::kSource, ConnectorType::kSink}) {
    for (ConnectorConfig& connector : connectors) {
      if (connector.type != type) continue;
      for (StreamConfig& stream : connector.streams) stream.topic = said.emplace(stream.name, stream.topic).first->second;
    }
  }
}

Result<DaemonConfig> load_daemon_config(const std::filesystem::path& file, const Environment& environment) {
  DaemonReading reading = read_daemon(file, environment);
  if (!has_errors(reading.findings)) return std::move(reading.config);
  return fail(reading.was_read ? Errc::kInvalid : Errc::kUnreadable, joined(reading.findings));
}

ConnectorSet load_connectors(const DaemonConfig& daemon, const Environment& environment, const SchemaSource& schemas) {
  ConnectorSet out;
  std::vector<Finding> folder_findings;
  std::vector<ConnectorReading> readings = read_connectors(daemon, environment, schemas, folder_findings);
  if (has_errors(folder_findings)) {
    out.rejected.push_back({.key = daemon.connectors_dir.filename().string(),
                            .file = daemon.connectors_dir.string(),
                            .message = joined(of_severity(folder_findings, Severity::kError))});
  }
  out.warnings = of_severity(folder_findings, Severity::kWarning);
  for (ConnectorReading& reading : readings) {
    const std::vector<Finding> warnings = of_severity(reading.findings, Severity::kWarning);
    out.warnings.insert(out.warnings.end(), warnings.begin(), warnings.end());
    if (reading.config) {
      out.connectors.push_back(*std::move(reading.config));
    } else {
      out.rejected.push_back(
          {.key = reading.key, .file = reading.file, .message = joined(of_severity(reading.findings, Severity::kError))});
    }
  }
  std::ranges::sort(out.connectors, {}, &ConnectorConfig::key);
  agree_on_topics(out.connectors);
  return out;
}

bool CheckReport::ok() const {
  return !has_errors(findings);
}

CheckReport check(const std::filesystem::path& file, const Environment& environment,
                  const std::function<SchemaSource(const DaemonConfig&)>& make_schemas) {
  CheckReport out;
  DaemonReading daemon = read_daemon(file, environment);
  out.findings = std::move(daemon.findings);
  if (!daemon.was_read) return out;
  const std::vector<ConnectorReading> readings = read_connectors(daemon.config, environment, make_schemas(daemon.config), out.findings);
  for (const ConnectorReading& reading : readings) {
    out.findings.insert(out.findings.end(), reading.findings.begin(), reading.findings.end());
    if (reading.config) out.connectors.push_back(reading.key);
  }
  return out;
}

}  // namespace sluice::config
