// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.hpp"
#include "runtime/config/connector_config.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::bench {

// What one run of source → log → sink looks like.
struct PipelineRun {
  std::uint64_t records = 0;
  std::uint32_t batch_records = 1000;
  std::uint32_t partitions = 1;
  std::string payload_size = "100B";
  std::string sink = "null_sink";
  std::string sink_config_json = "{}";
  config::Isolation sink_isolation = config::Isolation::kInProcess;
};

// Moves `run.records` of random_source through a fresh node in `directory` (fsync off) with one daemon's worth of threads, and returns
// records per second, counted from the first tenth that the sink has delivered to the last record.
[[nodiscard]] Result<double> measure_pipeline(plugin::PluginCatalog& plugins, const std::filesystem::path& directory,
                                              const PipelineRun& run);

}  // namespace sluice::bench
