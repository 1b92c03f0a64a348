// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::text {
namespace {

using testing::ElementsAre;

TEST(Text, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(to_valid_utf8("a\xC3\xA4\xFFz"), "a\xC3\xA4\xEF\xBF\xBDz");
  EXPECT_EQ(to_valid_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // overlong "/"
  EXPECT_EQ(to_valid_utf8("\xF0\x9F\x92\xA9"), "\xF0\x9F\x92\xA9");
  EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));      // a surrogate
  EXPECT_FALSE(is_valid_utf8("\xF4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(is_valid_utf8("abc\xE2\x82"));       // cut short
  EXPECT_TRUE(is_valid_utf8(""));
}

TEST(Text, EscapesControlBytesOfAllKinds) {
  EXPECT_EQ(escape_control("a\nb\tc\r\x1B[31m\x7F"), "a\\nb\\tc\\r\\x1b[31m\\x7f");
  EXPECT_EQ(escape_control(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(escape_control("\xC2\x9B"
                           "31m \xC2\xA9"),
            "\\x9b31m \xC2\xA9");  // C1 CSI goes, the copyright sign stays
}

TEST(Text, CutsBetweenCharactersAndMarksTheCut) {
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("abcdef", 5), "ab\xE2\x80\xA6");
  EXPECT_EQ(cut("a\xC3\xA4\xC3\xA4\xC3\xA4", 6), "a\xC3\xA4\xE2\x80\xA6");
  EXPECT_EQ(cut("abcdef", 2), "");
}

TEST(Text, MasksLongerSecretsFirst) {
  const std::vector<std::string> secrets{"pass", "password1", ""};
  EXPECT_EQ(mask("password1 pass x", secrets), "*** *** x");
  EXPECT_EQ(mask("nothing", secrets), "nothing");
}

TEST(Text, MasksBeforeItEscapesAndCuts) {
  const std::vector<std::string> secrets{"se\ncret-which-is-long"};
  EXPECT_EQ(printable("x se\ncret-which-is-long", 8, secrets), "x ***");
}

TEST(Text, FindsTheSecretsOfAUrl) {
  EXPECT_THAT(url_secrets("postgres://me:p%40ss@db:5432/x"), ElementsAre("me:p%40ss", "p%40ss", "me:p@ss", "p@ss"));
  EXPECT_THAT(url_secrets("mongodb://me:a@b@h1,h2/x"), ElementsAre("me:a@b", "a@b"));
  EXPECT_THAT(url_secrets("https://token@host"), ElementsAre("token"));
  EXPECT_THAT(url_secrets("https://host/path?mail=a@b"), ElementsAre());
  EXPECT_THAT(url_secrets("me@host"), ElementsAre());
}

}  // namespace
}  // namespace sluice::text
