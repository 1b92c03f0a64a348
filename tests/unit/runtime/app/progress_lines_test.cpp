// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/progress_lines.hpp"

#include <gtest/gtest.h>

namespace sluice::app {
namespace {

TEST(ProgressText, SaysHowManyPartitionsAndBytes) {
  node::RecoveryProgress progress;
  EXPECT_EQ(progress_text(progress), "opening the log: the catalog");
  progress.bytes = 4ULL << 30;
  progress.partitions = 10;
  progress.partitions_opened = 3;
  progress.bytes_judged = 3ULL << 29;
  EXPECT_EQ(progress_text(progress), "opening the log: 3 of 10 partitions, 1.5 GiB of 4.0 GiB checked");
  // A segment whose seal could not be believed is not part of what was announced.
  progress.bytes_judged = 5ULL << 30;
  EXPECT_EQ(progress_text(progress), "opening the log: 3 of 10 partitions, 4.0 GiB of 4.0 GiB checked");
}

}  // namespace
}  // namespace sluice::app
