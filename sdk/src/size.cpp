// SPDX-License-Identifier: Apache-2.0
#include <sluice/size.hpp>

#include <array>
#include <charconv>
#include <limits>

namespace sluice {
namespace {

struct SizeUnit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::uint64_t kTib = 1ULL << 40;
// The binary ones first and falling, for format_size.
constexpr std::array<SizeUnit, 9> kSizeUnits{{{"TiB", kTib},
                                              {"GiB", 1ULL << 30},
                                              {"MiB", 1ULL << 20},
                                              {"KiB", 1ULL << 10},
                                              {"B", 1},
                                              {"KB", 1000},
                                              {"MB", 1'000'000},
                                              {"GB", 1'000'000'000},
                                              {"TB", 1'000'000'000'000}}};
constexpr std::uint64_t kSizeMaxBytes = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::optional<Size> parse_size(std::string_view text) {
  if (text == "0") return Size{0};
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  for (const SizeUnit& unit : kSizeUnits) {
    if (unit.name != text) continue;
    if (value > kSizeMaxBytes / unit.bytes) return std::nullopt;
    return Size{value * unit.bytes};
  }
  return std::nullopt;
}

std::string format_size(Size size) {
  for (const SizeUnit& unit : kSizeUnits) {
    if (size.bytes != 0 && size.bytes % unit.bytes == 0) return std::to_string(size.bytes / unit.bytes).append(unit.name);
  }
  return "0B";
}

}  // namespace sluice
