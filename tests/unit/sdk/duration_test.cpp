// SPDX-License-Identifier: Apache-2.0
#include <sluice/duration.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace sluice {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ParseDuration, ReadsEveryUnitAndFallingCombinations) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("30s"), seconds(30));
  EXPECT_EQ(parse_duration("1m30s"), seconds(90));
  EXPECT_EQ(parse_duration("2h"), hours(2));
  EXPECT_EQ(parse_duration("1d1ms"), hours(24) + milliseconds(1));
  EXPECT_EQ(parse_duration("0"), milliseconds(0));
  EXPECT_EQ(parse_duration("0s"), milliseconds(0));
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text :
       {"", "5", "5sec", "ms", "-5s", "+5s", " 5s", "5s ", "5 s", "1.5s", "1s1m", "1s1s", "1ms1s", "5S", "0x5s", "1m30"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(ParseDuration, RefusesWhatWouldOverflow) {
  EXPECT_EQ(parse_duration("100000d"), hours(24 * 100'000));
  EXPECT_EQ(parse_duration("100000d1ms"), std::nullopt);
  EXPECT_EQ(parse_duration("100001d"), std::nullopt);
  EXPECT_EQ(parse_duration("9223372036854775807d"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999999999ms"), std::nullopt);
}

TEST(FormatDuration, ReadsBackAsTheSameValue) {
  EXPECT_EQ(format_duration(milliseconds(500)), "500ms");
  EXPECT_EQ(format_duration(seconds(90)), "1m30s");
  EXPECT_EQ(format_duration(milliseconds(0)), "0s");
  std::mt19937_64 random(4711);
  for (int i = 0; i < 1000; ++i) {
    const milliseconds value(static_cast<std::int64_t>(random() % 8'640'000'000ULL));
    EXPECT_EQ(parse_duration(format_duration(value)), value) << value.count();
  }
}

TEST(TimeAfter, EndsWithTheClockAndNeverGoesBack) {
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(time_after_ns(5, milliseconds(2)), 2'000'005U);
  EXPECT_EQ(time_after_ns(5, milliseconds(-2)), 5U);
  EXPECT_EQ(time_after_ns(kEnd - 2'000'000, milliseconds(2)), kEnd);
  EXPECT_EQ(time_after_ns(kEnd - 1'999'999, milliseconds(2)), kEnd);
  EXPECT_EQ(time_after_ns(kEnd, milliseconds(0)), kEnd);
  EXPECT_EQ(time_after_ns(0, milliseconds::max()), kEnd);
}

}  // namespace
}  // namespace sluice
