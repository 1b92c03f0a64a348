// SPDX-License-Identifier: Apache-2.0
#include "core/base/bytes.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(ByteReader, ReadsWhatByteWriterWrote) {
  ByteVector buffer;
  ByteWriter writer(buffer);
  writer.put(std::uint16_t{0x1234});
  writer.put(U128{1, 2});
  writer.put_sized(std::string_view{"abc"});

  ByteReader reader(buffer);
  EXPECT_EQ(reader.get<std::uint16_t>(), 0x1234);
  EXPECT_EQ(reader.get_u128(), (U128{1, 2}));
  EXPECT_EQ(as_text(reader.get_sized().value()), "abc");
  EXPECT_TRUE(reader.finished());
}

TEST(ByteReader, FailsForGoodOnceALengthRunsPastTheEnd) {
  ByteVector buffer;
  ByteWriter writer(buffer);
  writer.put(std::uint32_t{100});
  writer.put(std::uint8_t{7});

  ByteReader reader(buffer);
  EXPECT_FALSE(reader.get_sized().has_value());
  EXPECT_FALSE(reader.get<std::uint8_t>().has_value());
  EXPECT_FALSE(reader.finished());
}

TEST(ByteWriter, IsLittleEndian) {
  ByteVector buffer;
  ByteWriter(buffer).put(std::uint32_t{0x01020304});
  EXPECT_EQ(buffer[0], std::byte{4});
  EXPECT_EQ(buffer[3], std::byte{1});
}

}  // namespace
}  // namespace sluice
