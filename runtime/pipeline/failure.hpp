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
// An error of the core as the outcome that it is for a connector, scope connector. Kind retry is transient, and so is not found: a topic
// that is being made, or made anew, will be there. Everything else is fatal, above all a fenced epoch.
[[nodiscard]] plugin::Outcome to_outcome(const Error& error);

}  // namespace sluice::pipeline
