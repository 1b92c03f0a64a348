// SPDX-License-Identifier: Apache-2.0
#include "core/metadata/command.hpp"

#include <array>
#include <span>

#include <gtest/gtest.h>

#include "core/metadata/errc.hpp"

namespace sluice::metadata {
namespace {

std::string hex(Bytes bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) out += fmt::format("{}{:02x}", i == 0 ? "" : " ", static_cast<unsigned>(bytes[i]));
  return out;
}

// The worked example of docs/reference/catalog-format.md.
TEST(Command, CreateTopicHasTheDocumentedBytes) {
  const CreateTopic create{{"s", "t"}, {.partitions = 4, .retention = {.bytes = 1ULL << 20, .age = std::chrono::hours(24)}}, View(0)};
  EXPECT_EQ(hex(encode(create)),
            "02 00 01 00 01 00 00 00 73 01 00 00 00 74 00 00 00 00 "
            "2d 00 00 00 04 00 00 00 01 e8 03 00 00 00 00 00 40 00 00 00 00 "
            "01 00 00 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
            "01 00 5c 26 05 00 00 00 00");
}

TEST(Command, RoundTripsEveryField) {
  const CreateTopic create{{"stream.1", "topic-2"},
                           {.partitions = 7,
                            .enforce_fsync = false,
                            .flush_interval = std::chrono::milliseconds(250),
                            .segment_bytes = 1ULL << 21,
                            .retention = {.bytes = 5, .wait_for_consumers = true, .hard_bytes = 6, .age = std::chrono::hours(5)}},
                           View(3)};
  for (const Command& command : {Command(create), Command(DeleteTopic{{"a", "b"}}), Command(SetPaused{"key", true})}) {
    const auto back = decode_command(encode(command));
    ASSERT_TRUE(back.has_value()) << back.error().to_string();
    EXPECT_EQ(*back, command);
  }
}

TEST(Command, OptionsWithoutTheirLastFieldsTakeTheDefaults) {
  ByteVector block;
  ByteWriter fields(block);
  fields.put(std::uint32_t{2});
  fields.put(std::uint8_t{0});
  fields.put(std::uint32_t{100});
  fields.put(std::uint64_t{1} << 20);
  ByteVector bytes;
  ByteWriter(bytes).put_sized(block);
  ByteReader reader(bytes);
  const auto options = decode_topic_options(reader);
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->partitions, 2U);
  EXPECT_EQ(options->retention, RetentionOptions{});
}

// The create command of version 1 with a retention of 1 MiB, as that release wrote it.
TEST(Command, ReadsVersionOneAsATopicThatKeepsRecordsHoweverOldTheyGet) {
  const auto bytes = std::to_array<unsigned char>({0x01, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x73, 0x01, 0x00, 0x00, 0x00, 0x74, 0x00,
                                                   0x00, 0x00, 0x00, 0x24, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x01, 0xe8, 0x03, 0x00,
                                                   0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x10, 0x00, 0x00,
                                                   0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00});
  const auto command = decode_command(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(command.has_value()) << command.error().to_string();
  EXPECT_EQ(*command, Command(CreateTopic{{"s", "t"}, {.partitions = 4, .retention = {.bytes = 1ULL << 20}}, View(0)}));
}

TEST(Command, RefusesAnAgeThatNoTopicMayHave) {
  ByteVector bytes = encode(CreateTopic{{"s", "t"}, {.retention = {.age = kRetentionAgeMax}}, View(0)});
  ASSERT_TRUE(decode_command(bytes).has_value());
  bytes.back() = std::byte{0xff};
  EXPECT_FALSE(decode_command(bytes).has_value());
}

TEST(Command, RefusesANewerVersionNamingBoth) {
  ByteVector bytes = encode(DeleteTopic{{"a", "b"}});
  store_le<std::uint16_t>(bytes.data(), kFormatVersion + 1);
  const auto refused = decode_command(bytes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kTooNew));
  EXPECT_NE(refused.error().message().find("version 3"), std::string::npos);
  EXPECT_NE(refused.error().message().find("up to 2"), std::string::npos);
}

TEST(Command, RefusesEveryTruncationAndAnExtraByte) {
  for (const Command& command :
       {Command(CreateTopic{{"s", "t"}, {}, View(0)}), Command(DeleteTopic{{"a", "b"}}), Command(SetPaused{"k", true})}) {
    ByteVector whole = encode(command);
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode_command(Bytes(whole).first(size)).has_value()) << size;
    whole.push_back(std::byte{0});
    EXPECT_FALSE(decode_command(whole).has_value());
  }
}

TEST(Command, RefusesAnUnknownKind) {
  ByteVector bytes = encode(DeleteTopic{{"a", "b"}});
  store_le<std::uint16_t>(bytes.data() + 2, 99);
  const auto refused = decode_command(bytes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kMalformed));
}

}  // namespace
}  // namespace sluice::metadata
