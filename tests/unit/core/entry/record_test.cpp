// SPDX-License-Identifier: Apache-2.0
#include "core/entry/record.hpp"

#include <gtest/gtest.h>

#include "core/entry/limits.hpp"

namespace sluice {
namespace {

TEST(Headers, KeepOrderAndDuplicates) {
  Headers headers;
  ASSERT_TRUE(headers.add("a", as_bytes("1")).has_value());
  ASSERT_TRUE(headers.add("b", as_bytes("")).has_value());
  ASSERT_TRUE(headers.add("a", as_bytes("2")).has_value());
  const auto parsed = HeadersView::parse(headers.view().encoded());
  ASSERT_TRUE(parsed.has_value());
  std::string text;
  for (const HeaderView header : *parsed) text += std::string(header.name) + "=" + std::string(as_text(header.value)) + ";";
  EXPECT_EQ(text, "a=1;b=;a=2;");
  EXPECT_EQ(parsed->count(), 3U);
  EXPECT_EQ(as_text(*parsed->find("a")), "1");
  EXPECT_FALSE(parsed->find("c").has_value());
}

TEST(Headers, RefuseNamesThatAreEmptyTooLongOrNotUtf8) {
  Headers headers;
  EXPECT_FALSE(headers.add("", {}).has_value());
  EXPECT_FALSE(headers.add(std::string(entry::kHeaderNameBytesMax + 1, 'n'), {}).has_value());
  EXPECT_TRUE(headers.add(std::string(entry::kHeaderNameBytesMax, 'n'), {}).has_value());
  for (const char* bad :
       {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x8F\xBF\xBF", "\xFF", "a\xE2\x82"}) {
    EXPECT_FALSE(headers.add(bad, {}).has_value()) << bad;
  }
  for (const char* good : {"é", "€", "𐍈", "x-y_z.1", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF"})
    EXPECT_TRUE(headers.add(good, {}).has_value()) << good;
}

TEST(Headers, RefuseMoreThanTheirMaximum) {
  Headers headers;
  for (std::size_t i = 0; i < entry::kHeadersMax; ++i) ASSERT_TRUE(headers.add("n", {}).has_value());
  EXPECT_FALSE(headers.add("n", {}).has_value());
}

TEST(HeadersView, RefusesBytesThatHeadersDoNotTile) {
  Headers headers;
  ASSERT_TRUE(headers.add("name", as_bytes("value")).has_value());
  const Bytes encoded = headers.view().encoded();
  for (std::size_t size = 1; size < encoded.size(); ++size) EXPECT_FALSE(HeadersView::parse(encoded.first(size)).has_value()) << size;
  EXPECT_TRUE(HeadersView::parse({}).has_value());
}

TEST(Record, TellsAbsentFromEmpty) {
  Record record;
  EXPECT_FALSE(record.view().key.has_value());
  EXPECT_FALSE(record.view().payload.has_value());
  record.key.emplace();
  record.payload.emplace();
  const Record copy = Record::copy_of(record.view());
  EXPECT_TRUE(copy.key.has_value() && copy.key->empty());
  EXPECT_TRUE(copy.payload.has_value() && copy.payload->empty());
}

}  // namespace
}  // namespace sluice
