// SPDX-License-Identifier: Apache-2.0
// Points in time and spans as people read them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace sluice {

// "2026-03-01T12:30:45.000123Z": RFC 3339, UTC, always six digits.
[[nodiscard]] std::string format_rfc3339(TimestampUs time);
// RFC 3339 with an offset or Z, any number of fraction digits (beyond six are cut). Years 1970 to 9999.
[[nodiscard]] Result<TimestampUs> parse_rfc3339(std::string_view text);
// Two units at most, rounded down: "850ms", "12s", "3m 20s", "2h 5m", "4d 1h".
[[nodiscard]] std::string format_span(std::chrono::milliseconds span);

}  // namespace sluice
