// SPDX-License-Identifier: Apache-2.0
// Sizes as people write them: "8MiB", "64KB", "512B". Pure. [any thread]
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

struct Size {
  std::uint64_t bytes = 0;

  friend constexpr auto operator<=>(const Size&, const Size&) = default;
};

inline constexpr Size kKiB{1024};
inline constexpr Size kMiB{1024 * 1024};
inline constexpr Size kGiB{1024 * 1024 * 1024};
[[nodiscard]] constexpr Size operator*(std::uint64_t count, Size unit) {
  return {count * unit.bytes};
}

// What a text must look like; also the JSON Schema pattern of a size.
inline constexpr std::string_view kSizePattern = "^(0|[0-9]+(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB))$";

// One whole number and its unit: B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (powers of 1000); "0" needs none. Nothing else, and
// no value above 2^63 − 1.
[[nodiscard]] std::optional<Size> parse_size(std::string_view text);

// The largest binary unit that divides the value: "8MiB", "1500B".
[[nodiscard]] std::string format_size(Size size);

}  // namespace sluice
