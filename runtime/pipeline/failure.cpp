// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/failure.hpp"

#include <charconv>

#include <fmt/format.h>

#include "core/client/client.hpp"
#include "runtime/config/plugin_config.hpp"

namespace sluice::pipeline {

bool stops_connector(const plugin::Outcome& outcome) {
  return outcome.outcome_class == plugin::OutcomeClass::kInvalidConfig || outcome.outcome_class == plugin::OutcomeClass::kFatal;
}

bool ends_session(const plugin::Outcome& outcome) {
  return outcome.code == plugin::kProcessEndedCode || outcome.code == plugin::kProcessHungCode;
}

void locate(plugin::Outcome& outcome, const config::ConnectorConfig& config) {
  if (outcome.pointer.empty()) return;
  std::string place = config::to_string(config::origin_of_pointer(config.plugin_config_origins, outcome.pointer));
  if (place.empty()) place = config::to_string(config.origin);
  outcome.text = fmt::format("{}{}`{}`: {}", place, place.empty() ? "" : ": ", config::pointer_path(outcome.pointer), outcome.text);
  outcome.pointer.clear();
}

Problem to_problem(const plugin::Outcome& outcome, TimestampUs at) {
  return {std::string(plugin::to_string(outcome.outcome_class)),
          std::string(plugin::to_string(outcome.scope)),
          outcome.code,
          outcome.text,
          outcome.hint,
          outcome.http_status,
          at};
}

plugin::Outcome refused(plugin::OutcomeClass outcome_class, std::string code, std::string text, std::string hint) {
  plugin::Outcome outcome;
  outcome.outcome_class = outcome_class;
  outcome.scope = plugin::Scope::kConnector;
  outcome.code = std::move(code);
  outcome.text = std::move(text);
  outcome.hint = std::move(hint);
  return outcome;
}

bool partition_is_gone(const Error& error) {
  return error.kind() == ErrorKind::kNotFound || error.is(client::Errc::kStopped);
}

std::optional<Offset> earliest_of(const Error& error) {
  for (const auto& [key, value] : error.context()) {
    std::uint64_t offset = 0;
    if (key == "earliest" && std::from_chars(value.data(), value.data() + value.size(), offset).ec == std::errc{}) return Offset(offset);
  }
  return std::nullopt;
}

plugin::Outcome to_outcome(const Error& error) {
  plugin::Outcome outcome;
  const bool passes = error.kind() == ErrorKind::kRetry || partition_is_gone(error);
  outcome.outcome_class = passes ? plugin::OutcomeClass::kTransient : plugin::OutcomeClass::kFatal;
  outcome.scope = plugin::Scope::kConnector;
  outcome.code = error.code();
  outcome.text = error.message();
  if (!error.context().empty()) {
    std::string context;
    for (const auto& [key, value] : error.context()) context += fmt::format("{}{}={}", context.empty() ? "" : ", ", key, value);
    outcome.text += fmt::format(" ({})", context);
  }
  outcome.hint = error.explanation();
  return outcome;
}

}  // namespace sluice::pipeline
