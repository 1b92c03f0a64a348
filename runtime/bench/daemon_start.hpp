// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::bench {

struct DaemonStart {
  double ready_ms = 0;      // from exec to /ready
  double idle_rss_mib = 0;  // once everything is ready and idle
};

// Starts `program run` in `directory` with ten idle connectors, waits for /ready, reads its memory, and stops it.
[[nodiscard]] Result<DaemonStart> measure_daemon_start(const std::filesystem::path& program, const std::filesystem::path& directory,
                                                       const std::vector<std::filesystem::path>& plugin_path);

}  // namespace sluice::bench
