// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/ids.hpp"
#include "core/base/u128.hpp"

namespace sluice::log {

// The newest entry. An empty log has op 0, and the root identity as its id.
struct LogHead {
  Op op;
  U128 id;
  Offset next_offset;
  TimestampUs last_timestamp;

  friend bool operator==(const LogHead&, const LogHead&) = default;
};

// A head and the byte after it in its segment.
struct LogPoint {
  LogHead head;
  std::uint64_t position = 0;

  friend bool operator==(const LogPoint&, const LogPoint&) = default;
};

}  // namespace sluice::log
