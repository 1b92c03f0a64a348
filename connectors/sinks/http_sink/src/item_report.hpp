// SPDX-License-Identifier: Apache-2.0
// What the answer of a bulk endpoint says about each record. Pure.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "http_sink_config.hpp"

namespace sluice::http_sink {

struct Item {
  bool failed = false;
  int status = 0;     // 0 = it has none
  std::string error;  // what the item says, cut; for people
};

// The answer does not have the configured form: nothing is known about any record.
struct UnreadableReport : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One Item per record. Throws UnreadableReport.
[[nodiscard]] std::vector<Item> read_items(const ItemsConfig& config, std::string_view body, std::size_t records);

[[nodiscard]] bool is_json_pointer(std::string_view text);

}  // namespace sluice::http_sink
