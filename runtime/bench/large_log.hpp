// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace sluice::bench {

// The files of a log as years of appends would leave them, without the years: complete segments, sealed, each as long as it says.
struct LargeLog {
  std::string directory;
  GroupId group;
  Incarnation incarnation;
  std::uint32_t segments = 100;  // complete ones
  std::uint64_t segment_bytes = 1ULL << 30;
  std::uint64_t active_bytes = 64ULL << 20;
};

// The first segment and the active one hold entries from their first byte to their end; the others are holes with a seal and an index. A
// checkpoint stands at the last op. Returns the offset after the last record. [blocking]
[[nodiscard]] Result<Offset> make_large_log(const LargeLog& log);

}  // namespace sluice::bench
