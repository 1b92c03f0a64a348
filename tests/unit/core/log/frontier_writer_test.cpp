// SPDX-License-Identifier: Apache-2.0
#include "core/log/frontier_writer.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

log::LogPoint point(std::uint64_t op, std::uint64_t offset, std::uint64_t position) {
  return {{Op{op}, U128{op, 1}, Offset{offset}, TimestampUs{5}}, position};
}

log::Frontier some_frontier() {
  return {.kind = log::Frontier::Kind::kOpen,
          .sequence = 9,
          .epoch = 2,
          .segment = Op{4},
          .durable = point(6, 20, 5000),
          .limit = {Op{65'536}, Offset{65'536}}};
}

TEST(FrontierSlot, DecodesToWhatWasEncodedAndRefusesEveryFlippedBit) {
  const ByteVector bytes = log::encode_frontier(some_frontier());
  ASSERT_EQ(bytes.size(), log::kFrontierSlotBytes);
  EXPECT_EQ(*log::decode_frontier(bytes), some_frontier());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    ByteVector wrong = bytes;
    wrong[at] ^= std::byte{8};
    ASSERT_FALSE(log::decode_frontier(wrong).has_value()) << at;
  }
  EXPECT_EQ(log::decode_frontier(ByteVector(log::kFrontierSlotBytes))->has_value(), false);
}

TEST(FrontierSlot, IsImpossibleIfItsLimitLiesBelowWhatIsDurable) {
  log::Frontier low = some_frontier();
  low.limit.offset = Offset{19};
  EXPECT_FALSE(log::decode_frontier(log::encode_frontier(low)).has_value());
  low = some_frontier();
  low.limit.op = Op{5};
  EXPECT_FALSE(log::decode_frontier(log::encode_frontier(low)).has_value());
  low = some_frontier();
  low.durable.position = 4095;
  EXPECT_FALSE(log::decode_frontier(log::encode_frontier(low)).has_value());
}

// Whatever becomes of the slot that is being written, the newest durable one is in the other place.
TEST(FrontierWriter, WritesOverTheOlderSlotAndAgainInTheSamePlaceIfItsFlushFailed) {
  log::FrontierWriter writer(some_frontier(), 1);
  const auto failed = writer.next(point(7, 21, 6000), writer.limit());
  const auto again = writer.next(point(7, 21, 6000), writer.limit());
  EXPECT_EQ(failed.slot, 0U);
  EXPECT_EQ(again.slot, 0U);
  EXPECT_GT(again.frontier.sequence, failed.frontier.sequence);
  EXPECT_GT(failed.frontier.sequence, some_frontier().sequence);
  writer.on_durable(again);
  EXPECT_EQ(writer.next(point(8, 22, 7000), writer.limit()).slot, 1U);
  EXPECT_EQ(writer.next(point(8, 22, 7000), writer.limit()).frontier.epoch, 2U);
}

TEST(FrontierWriter, PutsItsLimitInForceOnlyOnceItIsDurable) {
  log::FrontierWriter writer(some_frontier(), 0);
  const log::Limit higher{Op{131'072}, Offset{131'072}};
  const auto slot = writer.next(point(7, 21, 6000), higher);
  EXPECT_EQ(writer.limit(), some_frontier().limit);
  writer.on_durable(slot);
  EXPECT_EQ(writer.limit(), higher);
}

TEST(FrontierWriter, ReservesWholeBlocksHalfABlockAhead) {
  log::FrontierWriter writer(some_frontier(), 0);
  const auto limit_at = [&](std::uint64_t op, std::uint64_t offset) { return writer.limit_for(point(op, offset, 0).head); };
  EXPECT_EQ(limit_at(7, 32'768), writer.limit());
  EXPECT_EQ(limit_at(7, 32'769), (log::Limit{Op{65'536}, Offset{131'072}}));
  EXPECT_EQ(limit_at(7, 1'000'000), (log::Limit{Op{65'536}, Offset{1'048'576}}));
  EXPECT_EQ(limit_at(40'000, 21), (log::Limit{Op{131'072}, Offset{65'536}}));
  writer.widen();
  EXPECT_EQ(limit_at(7, 32'769).offset, Offset{196'608});
  for (int i = 0; i < 20; ++i) writer.widen();
  EXPECT_EQ(limit_at(7, 32'769).offset, Offset{131'072 + (log::kLimitBlocksMax - 1) * log::kLimitBlock});
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(limit_at(7, kEnd - 1).offset, Offset{kEnd});
}

TEST(FrontierWriter, NeverRaisesALimitByMoreThanTheLargestStep) {
  log::FrontierWriter writer(some_frontier(), 0);
  for (int i = 0; i < 20; ++i) writer.widen();
  const log::LogHead head = point(65'536 + 1'000, 65'536 + log::kEntryOffsetsMax, 0).head;
  EXPECT_LE(writer.limit_for(head).offset, log::after_largest_step(writer.limit()).offset);
  EXPECT_GT(writer.limit_for(head).offset, Offset{65'536 + log::kEntryOffsetsMax});
  EXPECT_LE(writer.limit_for(head).op, log::after_largest_step(writer.limit()).op);
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(log::after_largest_step({Op{kEnd - 1}, Offset{kEnd - 1}}), (log::Limit{Op{kEnd}, Offset{kEnd}}));
}

TEST(FrontierWriter, BeginsASegmentWithALimitThatCoversWhatIsDurable) {
  log::FrontierWriter writer(some_frontier(), 0);
  const auto slot = writer.first_of(Op{70'001}, point(70'000, 80'000, 4096));
  EXPECT_TRUE(log::decode_frontier(slot.bytes).has_value());
  EXPECT_EQ(slot.frontier.limit, (log::Limit{Op{70'000}, Offset{80'000}}));
}

TEST(FrontierWriter, RenewsALargerReservationWhenHalfOfItIsLeft) {
  log::FrontierWriter writer(some_frontier(), 0);
  for (int i = 0; i < 3; ++i) writer.widen();  // eight blocks
  const auto limit_at = [&](std::uint64_t offset) { return writer.limit_for(point(7, offset, 0).head); };
  const log::Limit first = limit_at(65'536);
  writer.on_durable(writer.next(point(7, 65'536, 6000), first));
  const std::uint64_t half = 4 * log::kLimitBlock;
  EXPECT_EQ(limit_at(first.offset.value() - half), first);
  EXPECT_EQ(limit_at(first.offset.value() - half + 1).offset, first.offset + 4 * log::kLimitBlock);
}

TEST(FrontierWriter, ReservesNoOffsetsInALogThatHasNone) {
  log::Frontier empty = some_frontier();
  empty.durable = point(6, 0, 5000);
  empty.limit = {Op{6}, Offset{0}};
  const log::FrontierWriter writer(empty, 0);
  EXPECT_EQ(writer.limit_for(point(7, 0, 0).head), (log::Limit{Op{65'536}, Offset{0}}));
}

TEST(FrontierSlots, TakeASealOverEverythingAndTheHigherSequenceOtherwise) {
  const log::SegmentPage page{GroupId{7}, Incarnation{3}, Op{4}, U128{1, 1}, Offset{10}, TimestampUs{1}};
  log::Frontier newer = some_frontier();
  newer.sequence = 10;
  ByteVector bytes = log::encode_first_page(page, newer);
  const auto put = [&](std::size_t slot, const log::Frontier& frontier) {
    const ByteVector encoded = log::encode_frontier(frontier);
    std::copy(encoded.begin(), encoded.end(), bytes.begin() + static_cast<std::ptrdiff_t>(log::frontier_position(slot)));
  };
  put(1, some_frontier());
  auto slots = log::read_slots(bytes, Op{4});
  EXPECT_EQ(slots->newest, newer);
  EXPECT_EQ(slots->slot, 0U);
  EXPECT_FALSE(slots->sealed());
  put(1, log::seal_of(Op{4}, point(6, 20, 5000)));
  slots = log::read_slots(bytes, Op{4});
  EXPECT_TRUE(slots->sealed());
  EXPECT_FALSE(slots->both_sealed);
  put(0, log::seal_of(Op{4}, point(6, 20, 5000)));
  EXPECT_TRUE(log::read_slots(bytes, Op{4})->both_sealed);
  // A slot of another segment is none.
  EXPECT_TRUE(log::read_slots(bytes, Op{5})->damaged);
  EXPECT_FALSE(log::read_slots(bytes, Op{5})->newest.has_value());
}

}  // namespace
}  // namespace sluice::test
