// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/table.hpp"

#include <gtest/gtest.h>

namespace sluice::app {
namespace {

TEST(Table, AlignsNumbersRightAndTextLeft) {
  Table table({"NAME", "COUNT", "NOTE"});
  table.add({"a", "7", "x"});
  table.add({"grün", "1234", ""});
  EXPECT_EQ(table.text(),
            "NAME  COUNT  NOTE\n"
            "a         7  x\n"
            "gr\u00fcn   1234\n");
}

TEST(Table, PrintsHeadingsAloneWhenThereAreNoRows) {
  const Table table({"A", "B"});
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.text(), "A  B\n");
}

TEST(Describe, AlignsValues) {
  EXPECT_EQ(describe({{"a", "1"}, {"long", "2"}}), "a     1\nlong  2\n");
}

TEST(Shorten, CutsBetweenCharacters) {
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abcd", 3), "ab…");
  EXPECT_EQ(shorten("ab\u00fc\u00fc", 3), "ab…");
  EXPECT_EQ(shorten("\u00fc\u00fc\u00fc\u00fc", 3), "\u00fc\u00fc…");
}

TEST(FormatBytes, PicksAUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(1ULL << 40), "1.0 TiB");
}

}  // namespace
}  // namespace sluice::app
