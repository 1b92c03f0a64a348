// SPDX-License-Identifier: Apache-2.0
#include "core/metadata/catalog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "core/base/random.hpp"
#include "core/metadata/errc.hpp"

namespace sluice::metadata {
namespace {

CreateTopic create(std::string topic, std::uint32_t partitions = 1) {
  return CreateTopic{{"s", std::move(topic)}, {.partitions = partitions}, View(0)};
}

TEST(Catalog, GivesACreatedTopicTheOpAsIncarnationAndFreshGroups) {
  Catalog catalog;
  const auto change = catalog.apply(Op(7), create("a", 3));
  ASSERT_TRUE(change.has_value());
  ASSERT_TRUE(change->created.has_value());
  EXPECT_EQ(change->created->incarnation, Incarnation(7));
  EXPECT_EQ(change->created->created_view, View(0));
  EXPECT_EQ(change->created->groups, (std::vector{GroupId(1), GroupId(2), GroupId(3)}));
  EXPECT_EQ(*catalog.find({"s", "a"}), *change->created);
}

TEST(Catalog, NeverReusesAGroupOrAnIncarnation) {
  Catalog catalog;
  ASSERT_TRUE(catalog.apply(Op(1), create("a", 2)).has_value());
  const auto removed = catalog.apply(Op(2), DeleteTopic{{"s", "a"}});
  ASSERT_TRUE(removed.has_value());
  EXPECT_EQ(removed->deleted->groups.size(), 2U);
  EXPECT_EQ(catalog.find({"s", "a"}), nullptr);
  const auto again = catalog.apply(Op(3), create("a", 1));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->created->incarnation, Incarnation(3));
  EXPECT_EQ(again->created->groups, std::vector{GroupId(3)});
}

TEST(Catalog, ARefusedCommandChangesNothingButTheAppliedOp) {
  Catalog catalog;
  ASSERT_TRUE(catalog.apply(Op(1), create("a")).has_value());
  const auto topics = catalog.topics();
  const auto twice = catalog.apply(Op(2), create("a"));
  ASSERT_FALSE(twice.has_value());
  EXPECT_TRUE(twice.error().is(Errc::kTopicExists));
  const auto missing = catalog.apply(Op(3), DeleteTopic{{"s", "b"}});
  ASSERT_FALSE(missing.has_value());
  EXPECT_TRUE(missing.error().is(Errc::kTopicNotFound));
  EXPECT_EQ(catalog.topics(), topics);
  EXPECT_EQ(catalog.applied(), Op(3));
}

TEST(Catalog, KeepsPausedConnectorsThroughASnapshot) {
  Catalog catalog;
  ASSERT_TRUE(catalog.apply(Op(1), SetPaused{"orders_sink", true}).has_value());
  ASSERT_TRUE(catalog.apply(Op(2), SetPaused{"audit", true}).has_value());
  ASSERT_TRUE(catalog.apply(Op(3), SetPaused{"audit", false}).has_value());
  const auto back = Catalog::decode_snapshot(catalog.encode_snapshot());
  ASSERT_TRUE(back.has_value()) << back.error().to_string();
  EXPECT_EQ(*back, catalog);
  EXPECT_EQ(back->paused().size(), 1U);
  EXPECT_TRUE(back->paused().contains("orders_sink"));
}

TEST(Catalog, LimitsThePartitionsOfAllTopicsTogether) {
  Catalog catalog;
  std::uint64_t op = 0;
  for (std::size_t i = 0; i < kGroupsMax / kPartitionsMax; ++i) {
    ASSERT_TRUE(catalog.apply(Op(++op), create(fmt::format("t{}", i), kPartitionsMax)).has_value());
  }
  const auto over = catalog.apply(Op(++op), create("one_more"));
  ASSERT_FALSE(over.has_value());
  EXPECT_TRUE(over.error().is(Errc::kLimit));
  ASSERT_TRUE(catalog.apply(Op(++op), DeleteTopic{{"s", "t0"}}).has_value());
  EXPECT_TRUE(catalog.apply(Op(++op), create("one_more")).has_value());
}

TEST(Catalog, RefusesANewerSnapshotNamingBothVersions) {
  ByteVector bytes = Catalog{}.encode_snapshot();
  store_le<std::uint16_t>(bytes.data(), 9);
  const auto refused = Catalog::decode_snapshot(bytes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kTooNew));
  EXPECT_NE(refused.error().message().find("version 9"), std::string::npos);
  EXPECT_NE(refused.error().message().find("up to 2"), std::string::npos);
}

TEST(Catalog, EveryTruncationOfASnapshotIsRefused) {
  Catalog catalog;
  ASSERT_TRUE(catalog.apply(Op(1), create("a", 2)).has_value());
  ASSERT_TRUE(catalog.apply(Op(2), SetPaused{"k", true}).has_value());
  const ByteVector whole = catalog.encode_snapshot();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Catalog::decode_snapshot(Bytes(whole).first(size)).has_value()) << size;
  }
}

// As the format has it: equal states are equal bytes.
TEST(Catalog, RefusesASnapshotThatIsNotInAscendingOrder) {
  constexpr std::ptrdiff_t kTopicsAt = 2 + 8 + 8 + 4;
  constexpr std::ptrdiff_t kPausedCountBytes = 4;
  Catalog topics;
  ASSERT_TRUE(topics.apply(Op(1), create("a")).has_value());
  ASSERT_TRUE(topics.apply(Op(2), create("b")).has_value());
  ByteVector bytes = topics.encode_snapshot();
  const std::ptrdiff_t topic_bytes = (std::ssize(bytes) - kTopicsAt - kPausedCountBytes) / 2;
  const auto first = bytes.begin() + kTopicsAt;
  std::swap_ranges(first, first + topic_bytes, first + topic_bytes);
  const auto swapped = Catalog::decode_snapshot(bytes);
  ASSERT_FALSE(swapped.has_value());
  EXPECT_TRUE(swapped.error().is(Errc::kMalformed));
  EXPECT_NE(swapped.error().message().find("ascending"), std::string::npos) << swapped.error().message();
  std::copy_n(first, topic_bytes, first + topic_bytes);
  EXPECT_FALSE(Catalog::decode_snapshot(bytes).has_value()) << "one topic twice";

  Catalog paused;
  ASSERT_TRUE(paused.apply(Op(1), SetPaused{"aa", true}).has_value());
  ASSERT_TRUE(paused.apply(Op(2), SetPaused{"bb", true}).has_value());
  bytes = paused.encode_snapshot();
  const std::ptrdiff_t key_bytes = (std::ssize(bytes) - kTopicsAt - kPausedCountBytes) / 2;
  const auto key = bytes.begin() + kTopicsAt + kPausedCountBytes;
  std::swap_ranges(key, key + key_bytes, key + key_bytes);
  const auto keys_swapped = Catalog::decode_snapshot(bytes);
  ASSERT_FALSE(keys_swapped.has_value());
  EXPECT_NE(keys_swapped.error().message().find("ascending"), std::string::npos) << keys_swapped.error().message();
}

// A snapshot taken anywhere, and the commands after it, give the state that all commands give.
TEST(Catalog, SnapshotAndReplayEqualTheWholeHistory) {
  const std::uint64_t seed = system_random().next();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  SeededRandom random(seed);
  Catalog whole;
  Catalog restored;
  for (std::uint64_t op = 1; op <= 500; ++op) {
    Command command = create(fmt::format("t{}", random.below(8)), static_cast<std::uint32_t>(1 + random.below(4)));
    if (random.below(3) == 0) command = DeleteTopic{{"s", fmt::format("t{}", random.below(8))}};
    if (random.below(5) == 0) command = SetPaused{fmt::format("c{}", random.below(5)), random.below(2) == 0};
    const auto decoded = decode_command(encode(command));
    ASSERT_TRUE(decoded.has_value());
    ASSERT_EQ(*decoded, command);
    const bool expected = whole.check(command).has_value();
    EXPECT_EQ(whole.apply(Op(op), command).has_value(), expected);
    EXPECT_EQ(restored.apply(Op(op), *decoded).has_value(), expected);
    if (random.below(20) == 0) {
      auto back = Catalog::decode_snapshot(restored.encode_snapshot());
      ASSERT_TRUE(back.has_value()) << back.error().to_string();
      restored = *std::move(back);
    }
    ASSERT_EQ(whole, restored) << "op " << op;
  }
}

}  // namespace
}  // namespace sluice::metadata
