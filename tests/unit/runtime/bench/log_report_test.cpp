// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "runtime/bench/log_bench.hpp"

namespace sluice::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LogFigure figure() {
  LogFigure out;
  out.name = "1 producer, fsync";
  out.placement = "own";
  out.metric = "p50";
  out.producers = 1;
  out.ratio = 1.9;
  out.aim = 2.0;
  out.better = Better::kLower;
  return out;
}

TEST(LogReport, HoldsOnTheSideThatIsBetter) {
  LogFigure one = figure();
  EXPECT_TRUE(one.holds());
  one.better = Better::kHigher;
  EXPECT_FALSE(one.holds());
  one.aim.reset();
  EXPECT_TRUE(one.holds());
}

TEST(LogReport, IsOneJsonObjectALineWithoutWhatACaseDoesNotHave) {
  LogFigure full = figure();
  full.latency = Samples::Summary{.min_us = 1, .p50_us = 2, .p99_us = 3, .p999_us = 4, .max_us = 5};
  full.flushes = 12;
  full.floor_p50_us = 1.5;
  const std::string lines = to_json_lines({figure(), full});
  const std::size_t end = lines.find('\n');
  const auto bare = boost::json::parse(lines.substr(0, end)).as_object();
  const auto rich = boost::json::parse(lines.substr(end + 1)).as_object();
  for (const char* name : {"min_us", "p50_us", "p99_us", "p999_us", "max_us", "flushes", "floor_p50_us"}) {
    EXPECT_FALSE(bare.contains(name)) << name;
    EXPECT_TRUE(rich.contains(name)) << name;
  }
  EXPECT_EQ(rich.at("case").as_string(), "1 producer, fsync");
  EXPECT_EQ(rich.at("better").as_string(), "lower");
  EXPECT_TRUE(rich.at("holds").as_bool());
  EXPECT_EQ(rich.at("p999_us").to_number<double>(), 4);
}

TEST(LogReport, NamesWhatIsBelowItsAim) {
  LogFigure slow = figure();
  EXPECT_THAT(to_table({slow}), Not(HasSubstr("BELOW ITS AIM")));
  slow.ratio = 2.1;
  EXPECT_THAT(to_table({slow}), HasSubstr("BELOW ITS AIM"));
}

}  // namespace
}  // namespace sluice::bench
