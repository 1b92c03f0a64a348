// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/failure.hpp"

#include <fmt/format.h>

#include "core/client/client.hpp"

namespace sluice::pipeline {

bool stops_connector(const plugin::Outcome& outcome) {
  return outcome.outcome_class == plugin::OutcomeClass::kInvalidConfig || outcome.outcome_class == plugin::OutcomeClass::kFatal;
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

bool partition_is_gone(const Error& error) {
  return error.kind() == ErrorKind::kNotFound || error.is(client::Errc::kStopped);
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
