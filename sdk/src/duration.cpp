// SPDX-License-Identifier: Apache-2.0
#include <sluice/duration.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace sluice {
namespace {

struct DurationUnit {
  std::string_view name;
  std::int64_t ms;
};
// Falling, as they are written.
constexpr std::array<DurationUnit, 5> kDurationUnits{{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::int64_t kDurationMaxMs = 100'000 * kDurationUnits[0].ms;

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  if (text == "0") return Duration{0};
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  while (!text.empty()) {
    if (text[0] < '0' || text[0] > '9') return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value > kDurationMaxMs) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));

    const std::string_view name = text.substr(0, text.find_first_of("0123456789"));
    text.remove_prefix(name.size());
    while (next_unit < kDurationUnits.size() && kDurationUnits[next_unit].name != name) ++next_unit;
    if (next_unit == kDurationUnits.size()) return std::nullopt;
    if (value > kDurationMaxMs / kDurationUnits[next_unit].ms) return std::nullopt;
    total += value * kDurationUnits[next_unit].ms;
    if (total > kDurationMaxMs) return std::nullopt;
    ++next_unit;
  }
  return Duration{total};
}

std::string format_duration(Duration duration) {
  std::int64_t rest = duration.count();
  if (rest <= 0) return "0s";
  std::string text;
  for (const DurationUnit& unit : kDurationUnits) {
    if (rest / unit.ms == 0) continue;
    text += std::to_string(rest / unit.ms);
    text += unit.name;
    rest %= unit.ms;
  }
  return text;
}

std::uint64_t time_after_ns(std::uint64_t now_ns, Duration wait) {
  constexpr std::uint64_t kNsOfMs = 1'000'000;
  const std::uint64_t left_ns = std::numeric_limits<std::uint64_t>::max() - now_ns;
  const auto wait_ms = static_cast<std::uint64_t>(std::max(wait, Duration{0}).count());
  return wait_ms <= left_ns / kNsOfMs ? now_ns + wait_ms * kNsOfMs : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace sluice
