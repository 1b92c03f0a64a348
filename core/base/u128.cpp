// SPDX-License-Identifier: Apache-2.0
#include "core/base/u128.hpp"

#include <charconv>

#include <fmt/format.h>

namespace sluice {

std::string to_hex(U128 value) {
  return fmt::format("{:016x}{:016x}", value.high, value.low);
}

std::optional<U128> u128_from_hex(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  auto word = [](std::string_view part) -> std::optional<std::uint64_t> {
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), out, 16);
    if (error != std::errc{} || end != part.data() + part.size()) return std::nullopt;
    return out;
  };
  const auto high = word(text.substr(0, 16));
  const auto low = word(text.substr(16));
  if (!high || !low) return std::nullopt;
  return U128{*low, *high};
}

}  // namespace sluice
