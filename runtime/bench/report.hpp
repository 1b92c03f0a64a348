// SPDX-License-Identifier: Apache-2.0
// What a benchmark found, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice::bench {

enum class Better { kHigher, kLower };

// One measured number. `floor` is what the same machine did in the same run without the product, in the same unit.
struct Figure {
  std::string name;    // "pipe batch=1000 partitions=1"
  std::string metric;  // "records_per_s"
  double value = 0;
  std::optional<double> floor;
  std::optional<double> aim;  // of the ratio value / floor, or of the value itself if there is no floor
  Better better = Better::kHigher;

  [[nodiscard]] std::optional<double> ratio() const;
  // Whether the aim holds; true without an aim.
  [[nodiscard]] bool holds() const;
};

[[nodiscard]] std::string to_table(const std::vector<Figure>& figures);
// One JSON object a line.
[[nodiscard]] std::string to_json_lines(const std::vector<Figure>& figures);

}  // namespace sluice::bench
