// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "runtime/app/doctor_findings.hpp"
#include "runtime/app/plugin_schemas.hpp"
#include "runtime/config/loader.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::app {

namespace {

// Longer than the usual time-out of a connection, so that the connector itself says what does not answer.
constexpr std::chrono::milliseconds kOpenDeadline{15'000};
// They mostly wait.
constexpr std::size_t kOpensAtOnceMax = 16;

Finding tried(const config::ConnectorConfig& connector, plugin::PluginCatalog& plugins) {
  Finding out{.check = "connector " + connector.key, .detail = "opened, and closed again"};
  const auto answer = plugins.try_open({.plugin = connector.plugin,
                                        .connector = connector.connector,
                                        .is_sink = connector.type == config::ConnectorType::kSink,
                                        .config_json = connector.plugin_config_json,
                                        .secrets = connector.secrets,
                                        .deadline = kOpenDeadline});
  if (!answer) {
    out.verdict = Verdict::kFailed;
    out.detail = answer.error().to_string();
    out.hint = answer.error().explanation();
  } else if (*answer) {
    out.verdict = Verdict::kFailed;
    out.detail = fmt::format("{} [{}]", (*answer)->text, (*answer)->code);
    out.hint = (*answer)->hint;
  }
  return out;
}

}  // namespace

void check_connectors(Findings& out, const config::DaemonConfig& daemon, const std::shared_ptr<plugin::PluginCatalog>& plugins,
                      bool running) {
  config::ConnectorSet set = config::load_connectors(daemon, config::process_environment(), schemas_of(plugins));
  for (const auto& rejected : set.rejected) {
    out.push_back(
        {"connector " + rejected.key, Verdict::kFailed, rejected.message, "`sluice check` shows all that is wrong with the files."});
  }
  std::erase_if(set.connectors, [](const config::ConnectorConfig& connector) { return !connector.enabled; });
  if (running) {
    if (!set.connectors.empty()) {
      out.push_back(
          {"connectors", Verdict::kOk, "the running daemon has them: ask `sluice connector list` and `sluice connector why KEY`"});
    }
    return;
  }
  Findings found(set.connectors.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < found.size(); i = next++) found[i] = tried(set.connectors[i], *plugins);
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < std::min(found.size(), kOpensAtOnceMax); ++i) workers.emplace_back(work);
  work();
  workers.clear();
  out.insert(out.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

}  // namespace sluice::app
