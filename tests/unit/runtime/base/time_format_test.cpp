// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/time_format.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(TimeFormat, WritesUtcWithMicroseconds) {
  EXPECT_EQ(format_rfc3339(TimestampUs{0}), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_rfc3339(TimestampUs{1'700'000'000'000'123}), "2023-11-14T22:13:20.000123Z");
  EXPECT_EQ(format_rfc3339(TimestampUs{-1}), "1969-12-31T23:59:59.999999Z");
}

TEST(TimeFormat, ReadsOffsetsAndFractions) {
  EXPECT_EQ(parse_rfc3339("2023-11-14T22:13:20Z").value(), TimestampUs{1'700'000'000'000'000});
  EXPECT_EQ(parse_rfc3339("2023-11-15T00:13:20+02:00").value(), TimestampUs{1'700'000'000'000'000});
  EXPECT_EQ(parse_rfc3339("2023-11-14 22:13:20.1234567Z").value(), TimestampUs{1'700'000'000'123'456});
  for (const char* bad : {"", "2023-11-14", "2023-11-14T22:13:20", "2023-02-30T00:00:00Z", "2023-11-14T24:00:00Z", "2023-11-14T22:13:20.Z",
                          "2023-11-14T22:13:20Zx", "1969-01-01T00:00:00Z", "yesterday"}) {
    EXPECT_FALSE(parse_rfc3339(bad).has_value()) << bad;
  }
}

TEST(TimeFormat, GivesSpansTwoUnits) {
  using std::chrono::milliseconds;
  EXPECT_EQ(format_span(milliseconds{0}), "0ms");
  EXPECT_EQ(format_span(milliseconds{850}), "850ms");
  EXPECT_EQ(format_span(milliseconds{12'999}), "12s");
  EXPECT_EQ(format_span(milliseconds{200'000}), "3m 20s");
  EXPECT_EQ(format_span(milliseconds{7'200'000}), "2h");
  EXPECT_EQ(format_span(milliseconds{(4 * 24 + 1) * 3'600'000LL + 5000}), "4d 1h");
}

}  // namespace
}  // namespace sluice
