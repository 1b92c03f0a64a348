// SPDX-License-Identifier: Apache-2.0
#include <sluice/size.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace sluice {
namespace {

TEST(ParseSize, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_size("8MiB"), 8 * kMiB);
  EXPECT_EQ(parse_size("64KB"), Size{64'000});
  EXPECT_EQ(parse_size("512B"), Size{512});
  EXPECT_EQ(parse_size("3TB"), Size{3'000'000'000'000});
  EXPECT_EQ(parse_size("2TiB"), 2048 * kGiB);
  EXPECT_EQ(parse_size("0"), Size{0});
}

TEST(ParseSize, RefusesEverythingElse) {
  for (const char* text : {"", "8", "MiB", "-1B", "+1B", " 1B", "1B ", "1 B", "1.5MiB", "1mib", "1Mib", "1K", "1MiB1KiB", "0x1B"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(ParseSize, RefusesWhatWouldOverflow) {
  EXPECT_EQ(parse_size("9223372036854775807B"), Size{std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(parse_size("9223372036854775808B"), std::nullopt);
  EXPECT_EQ(parse_size("8388608TiB"), std::nullopt);
  EXPECT_EQ(parse_size("99999999999999999999B"), std::nullopt);
}

TEST(FormatSize, TakesTheLargestUnitThatDivides) {
  EXPECT_EQ(format_size(8 * kMiB), "8MiB");
  EXPECT_EQ(format_size(Size{1500}), "1500B");
  EXPECT_EQ(format_size(Size{1536 * 1024}), "1536KiB");
  EXPECT_EQ(format_size(Size{0}), "0B");
}

}  // namespace
}  // namespace sluice
