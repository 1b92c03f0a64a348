// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/loaded_plugin.hpp"

#include <fmt/format.h>

namespace sluice::plugin {

LoadedPlugin::~LoadedPlugin() {
  if (opened_.entry == nullptr) return;
  try {
    opened_.entry->deinit();
  } catch (...) {
    // The plugin breaks its contract with its last call: nothing of it is used any more.
  }
}

CallResult<std::uint32_t> LoadedPlugin::find(bool is_sink, std::string_view connector) const {
  const char* kind = is_sink ? "sink" : "source";
  std::string offered;
  std::vector<std::uint32_t> matches;
  for (std::uint32_t i = 0; i < description().connectors.size(); ++i) {
    const ConnectorDescriptor& descriptor = description().connectors[i];
    if (descriptor.is_sink != is_sink) continue;
    if (!offered.empty()) offered += ", ";
    offered += descriptor.id;
    if (connector.empty() || descriptor.id == connector) matches.push_back(i);
  }
  Outcome outcome;
  outcome.outcome_class = OutcomeClass::kInvalidConfig;
  if (matches.size() == 1) {
    const std::string& refusal = description().connectors[matches.front()].refusal;
    if (refusal.empty()) return matches.front();
    outcome.code = error_info(Errc::kUnsupportedExtension).name;
    outcome.text = refusal;
    outcome.hint = "update Sluice, or use another connector";
    return std::unexpected(std::move(outcome));
  }
  outcome.code = error_info(Errc::kNoSuchConnector).name;
  if (offered.empty()) {
    outcome.text = fmt::format("plugin '{}' has no {}", description().id, kind);
    outcome.hint = fmt::format("use it as a {}, or name another plugin", is_sink ? "source" : "sink");
  } else if (connector.empty()) {
    outcome.text = fmt::format("plugin '{}' has several {}s: {}", description().id, kind, offered);
    outcome.hint = "name one of them with the key `connector`";
  } else {
    outcome.text = fmt::format("plugin '{}' has no {} named '{}'; it has {}", description().id, kind, connector, offered);
    outcome.hint = "correct the key `connector`";
  }
  return std::unexpected(std::move(outcome));
}

}  // namespace sluice::plugin
