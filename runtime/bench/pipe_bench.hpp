// SPDX-License-Identifier: Apache-2.0
// `sluice bench pipe`: the whole way of a record beside its floors, measured in one run on one machine. docs/benchmarks.md records what it
// said.
#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/bench/report.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::bench {

struct PipeOptions {
  plugin::PluginCatalog* plugins = nullptr;        // has random_source, null_sink and http_sink; outlives the run
  std::vector<std::filesystem::path> plugin_path;  // where the daemon that is started finds them
  std::filesystem::path scratch;                   // an empty directory for logs and floor files; the caller removes it
  std::filesystem::path program;                   // the `sluice` binary, for start-to-ready and idle memory
  double scale = 1.0;                              // multiplies the number of records of every case
};

// Runs every case, one after the other. An error ends the run: a benchmark that cannot be set up measures nothing.
[[nodiscard]] Result<std::vector<Figure>> run_pipe_bench(const PipeOptions& options);

}  // namespace sluice::bench
