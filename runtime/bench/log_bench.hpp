// SPDX-License-Identifier: Apache-2.0
// `sluice bench log`: the partition log alone, every case beside a floor that was measured right after it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/bench/report.hpp"
#include "runtime/bench/samples.hpp"

namespace sluice::bench {

struct LogBenchOptions {
  std::filesystem::path scratch;  // an empty directory on the device to be measured
  std::uint64_t seed = 1;         // of the order of the cases
  double scale = 1;               // multiplies the number of batches
  std::string only;               // the cases with this in their names; empty: all
};

// One case, one placement, one metric. What a case does not have is absent.
struct LogFigure {
  std::string name;
  std::string placement;  // "in_shard", "own", or empty
  std::string metric;     // what `ratio` is made of
  std::uint32_t producers = 0;
  std::uint32_t batch_records = 0;
  std::uint64_t batch_bytes = 0;
  std::optional<double> records_per_s;
  std::optional<double> mb_per_s;
  std::optional<Samples::Summary> latency;
  std::optional<std::uint64_t> flushes;
  std::optional<double> batches_per_flush;
  std::optional<double> floor_p50_us;
  std::optional<double> floor_mb_per_s;
  double ratio = 0;
  std::optional<double> aim;  // of the ratio
  Better better = Better::kHigher;

  [[nodiscard]] bool holds() const;
};

// All cases in an order that the seed shuffles, the ladder last. [blocking, a minute or two]
[[nodiscard]] Result<std::vector<LogFigure>> run_log_bench(const LogBenchOptions& options);

[[nodiscard]] std::string to_table(const std::vector<LogFigure>& figures);
[[nodiscard]] std::string to_json_lines(const std::vector<LogFigure>& figures);

}  // namespace sluice::bench
