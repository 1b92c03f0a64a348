// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sluice::app {

// Parses the arguments, runs the command, answers the exit code. docs/reference/cli.md is the specification.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace sluice::app
