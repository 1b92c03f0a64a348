// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sluice::app {

// What the process leaves with. Stable; docs/reference/cli.md explains each.
enum class ExitCode : std::uint8_t {
  kOk = 0,
  kFailure = 1,        // what was asked for failed; stderr says why
  kUsage = 2,          // the command line makes no sense
  kAbandoned = 3,      // run: drained, but a connector's call never returned
  kNoDaemon = 4,       // nothing answers at the address
  kConfigInvalid = 5,  // check, run and commands that read sluice.toml: the configuration has errors
  kFatal = 6,          // run: acknowledged data could not be kept durable
  kLocked = 7,         // another process uses the data directory
};

}  // namespace sluice::app
