// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "runtime/app/offline.hpp"
#include "runtime/app/plugin_schemas.hpp"
#include "runtime/config/loader.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

json::object finding_json(const config::Finding& finding) {
  json::object out;
  out["severity"] = finding.severity == config::Severity::kError ? "error" : "warning";
  out["file"] = finding.origin.file;
  out["line"] = finding.origin.line;
  out["column"] = finding.origin.column;
  if (!finding.origin.variable.empty()) out["variable"] = finding.origin.variable;
  out["message"] = finding.message;
  return out;
}

}  // namespace

Result<ExitCode> check(const Console& console, const std::filesystem::path& config) {
  const auto report = config::check(config, config::process_environment(),
                                    [](const config::DaemonConfig& daemon) { return schemas_of(make_plugin_catalog(daemon, {})); });
  const ExitCode code = report.ok() ? ExitCode::kOk : ExitCode::kConfigInvalid;
  if (console.json()) {
    json::object out;
    out["ok"] = report.ok();
    json::array findings;
    for (const auto& finding : report.findings) findings.push_back(finding_json(finding));
    out["findings"] = std::move(findings);
    out["connectors"] = json::value_from(report.connectors);
    console.print_json(out);
    return code;
  }
  for (const auto& finding : report.findings) console.print(config::to_string(finding) + "\n");
  const auto errors = std::ranges::count(report.findings, config::Severity::kError, &config::Finding::severity);
  console.print(fmt::format("{}: {} error(s), {} warning(s), {} valid connector(s)\n", config.string(), errors,
                            static_cast<std::ptrdiff_t>(report.findings.size()) - errors, report.connectors.size()));
  return code;
}

}  // namespace sluice::app
