// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/logging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/repeat_filter.hpp"

namespace sluice::logging {
namespace {

using std::chrono::seconds;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

template <typename Write>
std::string logged(Level level, Format format, Write write) {
  start(level, format);
  testing::internal::CaptureStderr();
  write();
  flush();
  return testing::internal::GetCapturedStderr();
}

TEST(Logging, PutsTheConnectorKeyOnEachLine) {
  const std::string text = logged(Level::kInfo, Format::kText, [] {
    Logger("orders").info("opened {}", 7);
    Logger().debug("not at this level");
  });
  EXPECT_THAT(text, ContainsRegex("^[0-9-]+T[0-9:.]+Z info  \\[orders\\] opened 7\n$"));
}

TEST(Logging, WritesJsonThatNoMessageCanBreak) {
  const std::string text = logged(Level::kInfo, Format::kJson, [] { Logger("orders").info("{}", "say \"hi\"\nback\\slash \xFF"); });
  EXPECT_THAT(text, HasSubstr(R"("level":"info","connector":"orders","message":"say \"hi\"\\nback\\slash )"
                              "\xEF\xBF\xBD\"}\n"));
}

TEST(Logging, CountsRepeatedErrors) {
  const std::string text = logged(Level::kInfo, Format::kText, [] {
    for (int i = 0; i < 5; ++i) Logger("orders").error("refused");
    Logger("other").error("refused");
  });
  EXPECT_THAT(text,
              ContainsRegex(
                  "error \\[orders\\] refused\n.*error \\[other\\] refused\n.*error \\[orders\\] refused \\(repeated 4 times more\\)\n$"));
}

TEST(Logging, NeverShowsASecret) {
  add_secrets({"hunter2"});
  const std::string text = logged(Level::kInfo, Format::kText, [] { Logger().warn("login with hunter2 failed"); });
  EXPECT_THAT(text, HasSubstr("login with *** failed"));
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
}

TEST(RepeatFilter, HoldsBackWithinTheWindowAndTellsTheCountAfterIt) {
  RepeatFilter filter(seconds{30});
  EXPECT_TRUE(filter.admit("x", seconds{0}));
  EXPECT_FALSE(filter.admit("x", seconds{10}));
  EXPECT_FALSE(filter.admit("x", seconds{29}));
  EXPECT_TRUE(filter.expired(seconds{29}).empty());
  const auto summaries = filter.expired(seconds{30});
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].line, "x");
  EXPECT_EQ(summaries[0].count, 2u);
  EXPECT_TRUE(filter.admit("x", seconds{31}));
  EXPECT_TRUE(filter.drain().empty());
}

TEST(RepeatFilter, ForgetsTheOldestBeyondItsLimitButNotItsCount) {
  RepeatFilter filter(seconds{1'000'000});
  ASSERT_TRUE(filter.admit("first", seconds{0}));
  ASSERT_FALSE(filter.admit("first", seconds{1}));
  for (std::size_t i = 0; i < RepeatFilter::kDistinctMax; ++i) ASSERT_TRUE(filter.admit(std::to_string(i), seconds{2}));
  const auto summaries = filter.expired(seconds{3});
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].line, "first");
  EXPECT_TRUE(filter.admit("first", seconds{4}));
}

}  // namespace
}  // namespace sluice::logging
