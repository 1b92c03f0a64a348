// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <sluice/utf8.hpp>

namespace sluice {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, TakesEveryWellFormedSequence) {
  for (const std::string_view text :
       {""sv, "ascii of more than eight bytes"sv, "\0"sv, "\xC2\x80"sv, "\xDF\xBF"sv, "\xE0\xA0\x80"sv, "\xED\x9F\xBF"sv, "\xEE\x80\x80"sv,
        "\xEF\xBF\xBF"sv, "\xF0\x90\x80\x80"sv, "\xF4\x8F\xBF\xBF"sv, "12345678\xC3\xA4"sv}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, RefusesWhatIsNot) {
  for (const std::string_view bytes :
       {"\x80"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xC2"sv, "\xC2 "sv, "\xE0\x9F\xBF"sv, "\xE2\x82"sv, "\xED\xA0\x80"sv, "\xF0\x8F\xBF\xBF"sv,
        "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xFF"sv, "\xF0\x9F\x98"sv, "12345678\xC3"sv}) {
    EXPECT_FALSE(is_utf8(bytes));
  }
}

}  // namespace
}  // namespace sluice
