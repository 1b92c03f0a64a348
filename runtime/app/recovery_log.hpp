// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/node/node.hpp"
#include "runtime/base/logging.hpp"

namespace sluice::app {

// What the start found in the data directory, as far as an operator wants to know of it: a line each.
void log_recovery(const node::NodeRecovery& recovery, const logging::Logger& log);
// What a scrub found, with what to do about it.
void log_damage(const Error& damage, const logging::Logger& log);

}  // namespace sluice::app
