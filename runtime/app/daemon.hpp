// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "runtime/app/console.hpp"

namespace sluice::app {

struct RunOptions {
  std::filesystem::path config = "sluice.toml";
  std::filesystem::path pid_file;  // empty = none
};

// `sluice run`: the daemon, until SIGTERM or SIGINT. Call it on the main thread before any other thread exists. Does not return: the
// process leaves by _Exit, because plugins are mapped and a call into one may never have come back.
[[noreturn]] void run_daemon(const Console& console, const RunOptions& options);

}  // namespace sluice::app
