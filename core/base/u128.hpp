// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// 128 bits as two words, for record ids, client ids, cluster ids and entry identities. Little-endian on disk: low, then high.
struct U128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend constexpr auto operator<=>(const U128&, const U128&) = default;
};

// 32 lower-case hex digits, most significant first.
[[nodiscard]] std::string to_hex(U128 value);
[[nodiscard]] std::optional<U128> u128_from_hex(std::string_view text);

}  // namespace sluice

template <>
struct std::hash<sluice::U128> {
  std::size_t operator()(const sluice::U128& v) const noexcept {
    return static_cast<std::size_t>(v.low ^ (v.high * 0x9E3779B97F4A7C15ULL));
  }
};
