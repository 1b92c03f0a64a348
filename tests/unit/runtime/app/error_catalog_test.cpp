// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/error_catalog.hpp"

#include <set>

#include <gtest/gtest.h>

namespace sluice::app {
namespace {

TEST(ErrorCatalog, NamesEachCodeOnceSortedAndExplained) {
  std::set<std::string_view> seen;
  std::string_view last;
  for (const ErrorInfo* info : error_catalog()) {
    EXPECT_TRUE(seen.insert(info->name).second) << info->name;
    EXPECT_LT(last, info->name);
    EXPECT_FALSE(info->explanation.empty()) << info->name;
    last = info->name;
  }
  EXPECT_GT(seen.size(), 60U);
}

TEST(ErrorCatalog, FindsByNameAndSuggestsTheNearest) {
  ASSERT_NE(find_error("base.timeout"), nullptr);
  EXPECT_EQ(find_error("base.timeout")->kind, ErrorKind::kRetry);
  EXPECT_EQ(find_error("base.timeuot"), nullptr);
  EXPECT_EQ(nearest_error("base.timeuot"), "base.timeout");
}

}  // namespace
}  // namespace sluice::app
