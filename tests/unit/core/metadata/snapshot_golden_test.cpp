// SPDX-License-Identifier: Apache-2.0
// golden/snapshot-vN.hex: a snapshot as the releases of format version N write it. A file that is there never changes; a new version adds
// one.
#include <gtest/gtest.h>

#include <fstream>
#include <ios>
#include <string>

#include "core/metadata/catalog.hpp"

namespace sluice::metadata {
namespace {

ByteVector golden(std::uint16_t version) {
  std::ifstream file(fmt::format("{}/snapshot-v{}.hex", SLUICE_GOLDEN_DIR, version));
  ByteVector out;
  unsigned byte = 0;
  while (file >> std::hex >> byte) out.push_back(static_cast<std::byte>(byte));
  return out;
}

// What the files hold; an age came with version 2.
Catalog expected(std::uint16_t version) {
  RetentionOptions retention{.bytes = 1ULL << 20, .wait_for_consumers = true, .hard_bytes = 2ULL << 20};
  if (version >= 2) retention.age = std::chrono::hours(24);
  const TopicOptions quick{
      .partitions = 2, .enforce_fsync = false, .flush_interval = std::chrono::milliseconds(100), .segment_bytes = 1ULL << 20};
  const Command history[] = {CreateTopic{{"s", "a"}, quick, View(3)},
                             SetPaused{"orders", true},
                             SetPaused{"audit", true},
                             CreateTopic{{"s", "b"}, {.retention = retention}, View(0)},
                             CreateTopic{{"s", "c"}, {}, View(0)},
                             DeleteTopic{{"s", "c"}}};
  Catalog catalog;
  std::uint64_t op = 0;
  for (const Command& command : history) EXPECT_TRUE(catalog.apply(Op(++op), command).has_value());
  return catalog;
}

TEST(SnapshotGolden, OfEveryVersionIsRead) {
  for (std::uint16_t version = 1; version <= kFormatVersion; ++version) {
    const auto read = Catalog::decode_snapshot(golden(version));
    ASSERT_TRUE(read.has_value()) << version << ": " << read.error().to_string();
    EXPECT_EQ(*read, expected(version)) << version;
  }
}

TEST(SnapshotGolden, OfThisVersionIsWhatIsWritten) {
  EXPECT_EQ(expected(kFormatVersion).encode_snapshot(), golden(kFormatVersion));
}

}  // namespace
}  // namespace sluice::metadata
