// SPDX-License-Identifier: Apache-2.0
// What the host makes of an outcome.
#pragma once

#include <string>

#include "core/base/error.hpp"
#include "runtime/pipeline/status.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::pipeline {

// Invalid configuration and broken plugins: waiting does not help. Everything else of scope connector is waited for, whatever its class.
[[nodiscard]] bool stops_connector(const plugin::Outcome& outcome);

[[nodiscard]] Problem to_problem(const plugin::Outcome& outcome, TimestampUs at);
// The topic was deleted, or goes just now. If it comes again it has other partitions, which only a new session finds.
[[nodiscard]] bool partition_is_gone(const Error& error);
// An error of the core as the outcome that it is for a connector, scope connector. Kind retry is transient, and so is a
// partition that is gone: its topic may be under way. Everything else is fatal, above all a fenced epoch.
[[nodiscard]] plugin::Outcome to_outcome(const Error& error);

}  // namespace sluice::pipeline
