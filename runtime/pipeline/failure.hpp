// SPDX-License-Identifier: Apache-2.0
// What the host makes of an outcome.
#pragma once

#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/base/ids.hpp"
#include "runtime/config/connector_config.hpp"
#include "runtime/pipeline/status.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::pipeline {

// Invalid configuration and broken plugins: waiting does not help. Everything else of scope connector is waited for, whatever its class.
[[nodiscard]] bool stops_connector(const plugin::Outcome& outcome);

// The process of the plugin has ended: only another session, with another process, goes on.
[[nodiscard]] bool ends_session(const plugin::Outcome& outcome);

// Puts file, line, column and key before the text of an outcome that points into [plugin_config].
void locate(plugin::Outcome& outcome, const config::ConnectorConfig& config);

[[nodiscard]] Problem to_problem(const plugin::Outcome& outcome, TimestampUs at);
// The host's own reason why a connector cannot go on, scope connector.
[[nodiscard]] plugin::Outcome refused(plugin::OutcomeClass outcome_class, std::string code, std::string text, std::string hint);
// The topic was deleted, or goes just now. If it comes again it has other partitions, which only a new session finds.
[[nodiscard]] bool partition_is_gone(const Error& error);
// Where a partition begins whose read failed with client::Errc::kOutOfRange.
[[nodiscard]] std::optional<Offset> earliest_of(const Error& error);
// An error of the core as the outcome that it is for a connector, scope connector. Kind retry is transient, and so is a
// partition that is gone: its topic may be under way. Everything else is fatal, above all a fenced epoch.
[[nodiscard]] plugin::Outcome to_outcome(const Error& error);

}  // namespace sluice::pipeline
