// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/ids.hpp"

namespace sluice::log {

// What recovery found and did. Logged by the owner; counted in the metrics.
struct RecoveryReport {
  std::uint64_t segments = 0;
  std::uint64_t entries = 0;  // verified
  std::uint64_t bytes_verified = 0;
  std::uint64_t indexes_rebuilt = 0;
  std::uint64_t index_entries_added = 0;  // to indexes that matched but ended early
  bool created = false;                   // there was no log here

  struct Cut {
    std::string segment;
    std::uint64_t position = 0;  // first byte that was cut
    std::uint64_t bytes = 0;
    std::string set_aside;  // file with the bytes
    std::string reason;
  };
  std::optional<Cut> cut;
};

}  // namespace sluice::log
