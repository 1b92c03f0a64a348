// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/sync_probe.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::app {
namespace {

TEST(MeasureSync, MeasuresAHundredWritesAndLeavesNothing) {
  const test::TemporaryDirectory folder;
  const auto measured = measure_sync(folder.path());
  ASSERT_TRUE(measured) << measured.error().to_string();
  EXPECT_EQ(measured->writes, 100U);
  EXPECT_GT(measured->p50.count(), 0);
  EXPECT_LE(measured->p50, measured->p99);
  EXPECT_LE(measured->p99, measured->max);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(MeasureSync, NamesAFolderItCannotWriteTo) {
  const auto measured = measure_sync("/nonexistent/folder");
  ASSERT_FALSE(measured);
  EXPECT_NE(measured.error().message().find("/nonexistent/folder"), std::string::npos);
}

}  // namespace
}  // namespace sluice::app
