// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.hpp"

#include <gtest/gtest.h>

namespace sluice {

TEST(CleanText, KeepsPrintableUtf8) {
  EXPECT_EQ(clean_text("größe 10 € 🙂", 100), "größe 10 € 🙂");
}

TEST(CleanText, EscapesControlCharactersThatATerminalWouldObey) {
  EXPECT_EQ(clean_text("a\nb\tc\r\x1b[31m\x7f", 100), "a\\nb\\tc\\r\\x1b[31m\\x7f");
  EXPECT_EQ(clean_text("\xC2\x9B", 100), "\\x9b");
  EXPECT_EQ(clean_text(std::string_view("\0", 1), 100), "\\x00");
}

TEST(CleanText, ReplacesBytesThatAreNotUtf8) {
  const std::string_view replacement = "\xEF\xBF\xBD";
  for (const std::string_view bad : {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    const std::string out = clean_text(bad, 100);
    EXPECT_TRUE(out.starts_with(replacement));
    EXPECT_TRUE(is_utf8(out));
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(CleanText, CutsBetweenCharactersAndSaysSo) {
  EXPECT_EQ(clean_text("aaaaaaaaaa", 10), "aaaaaaaaaa");
  EXPECT_EQ(clean_text("aaaaaaaaaaa", 10), "aaaaaaa…");
  EXPECT_EQ(clean_text("€€€€", 10), "€€…");
  EXPECT_EQ(clean_text(std::string(100'000, 'x'), 10).size(), 10u);
}

TEST(CleanText, MasksSecretsLongestFirst) {
  const std::vector<std::string> secrets{"hunter2", "hunter22", ""};
  EXPECT_EQ(clean_text("a=hunter2 b=hunter22", 100, secrets), "a=*** b=***");
}

TEST(CleanText, LeavesNoBeginningOfASecretAtACut) {
  const std::vector<std::string> secrets{"SECRETSECRET"};
  for (std::size_t pad = 0; pad < 100; ++pad) {
    const std::string out = clean_text(std::string(pad, '.') + "SECRETSECRET" + std::string(pad, '.'), 16, secrets);
    EXPECT_EQ(out.find('S'), std::string::npos) << out;
  }
}

}  // namespace sluice
