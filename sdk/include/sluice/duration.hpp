// SPDX-License-Identifier: Apache-2.0
// Durations as people write them: "500ms", "1m30s". Pure. [any thread]
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

using Duration = std::chrono::milliseconds;

// What a text must look like; also the JSON Schema pattern of a duration.
inline constexpr std::string_view kDurationPattern = "^(0|([0-9]+(ms|s|m|h|d))+)$";

// One or more whole numbers, each with its unit (d, h, m, s, ms), units falling: "1h30m", "250ms"; "0" needs none. Nothing else: no sign,
// blank or fraction, and no value above 100 000 days.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

// The shortest text that parse_duration reads back as the same value; "0s" for zero and below.
[[nodiscard]] std::string format_duration(Duration duration);

// The time of a clock in nanoseconds that comes `wait` after `now_ns`; the clock's end rather than an overflow. A wait below zero is none.
[[nodiscard]] std::uint64_t time_after_ns(std::uint64_t now_ns, Duration wait);

}  // namespace sluice
