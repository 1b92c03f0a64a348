// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/partition_progress.hpp"

#include <iostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::pipeline {
namespace {

PartitionProgress fresh(std::uint64_t at = 0) {
  return {Offset(at), Offset(at), {}};
}

TEST(PartitionProgress, CommitsNothingWhileTheFirstRecordIsOpen) {
  PartitionProgress progress = fresh();
  progress.extend(Offset(10), Fate::kPending);
  progress.settle(Offset(1), Offset(10), Fate::kDelivered);
  EXPECT_FALSE(progress.committable());
  EXPECT_EQ(progress.count(Fate::kPending), 1U);
}

TEST(PartitionProgress, AcceptedIsNotCommittable) {
  PartitionProgress progress = fresh();
  progress.extend(Offset(10), Fate::kPending);
  progress.settle(Offset(0), Offset(10), Fate::kAccepted);
  EXPECT_FALSE(progress.committable());
  EXPECT_EQ(progress.make_durable(Offset(4)), 4U);
  ASSERT_TRUE(progress.committable());
  EXPECT_EQ(progress.committable()->next, Offset(4));
  EXPECT_EQ(progress.committable()->accounting.delivered, 4U);
}

TEST(PartitionProgress, SumsEveryBucketOverTheContiguousPrefix) {
  PartitionProgress progress = fresh(100);
  progress.extend(Offset(110), Fate::kPending);
  progress.extend(Offset(113), Fate::kGap);
  progress.extend(Offset(115), Fate::kExpired);
  progress.extend(Offset(120), Fate::kPending);
  progress.settle(Offset(100), Offset(105), Fate::kDelivered);
  progress.settle(Offset(105), Offset(106), Fate::kSkipped);
  progress.settle(Offset(106), Offset(108), Fate::kDeadLettered);
  progress.settle(Offset(108), Offset(110), Fate::kFiltered);
  const auto commit = progress.committable();
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->next, Offset(115));
  EXPECT_EQ(commit->accounting,
            (client::Accounting{.delivered = 5, .filtered = 2, .skipped = 1, .dead_lettered = 2, .expired = 2, .gap = 3}));
  progress.committed(*commit);
  EXPECT_EQ(progress.committed_next(), Offset(115));
  EXPECT_EQ(progress.count(Fate::kPending), 5U);
  EXPECT_FALSE(progress.committable());
}

TEST(PartitionProgress, GoesOnFromWhatWasCommittedBefore) {
  PartitionProgress progress(Offset(5), Offset(8), {.delivered = 2, .skipped = 1});
  progress.extend(Offset(9), Fate::kPending);
  progress.settle(Offset(8), Offset(9), Fate::kDelivered);
  EXPECT_EQ(progress.committable()->accounting, (client::Accounting{.delivered = 3, .skipped = 1}));
}

TEST(PartitionProgress, SettleLeavesOtherFatesAlone) {
  PartitionProgress progress = fresh();
  progress.extend(Offset(3), Fate::kPending);
  progress.extend(Offset(5), Fate::kGap);
  progress.extend(Offset(8), Fate::kPending);
  progress.settle(Offset(1), Offset(2), Fate::kDeadLettered);
  progress.settle(Offset(0), Offset(8), Fate::kAccepted);
  EXPECT_EQ(progress.count(Fate::kAccepted), 5U);
  EXPECT_EQ(progress.count(Fate::kGap), 2U);
  EXPECT_EQ(progress.count(Fate::kDeadLettered), 1U);
}

TEST(PartitionProgress, CommitMayStopInsideARun) {
  PartitionProgress progress = fresh();
  progress.extend(Offset(10), Fate::kDelivered);
  const auto early = progress.committable();
  progress.extend(Offset(20), Fate::kDelivered);
  progress.committed(*early);
  EXPECT_EQ(progress.count(Fate::kDelivered), 10U);
  EXPECT_EQ(progress.committable()->next, Offset(20));
  EXPECT_EQ(progress.committable()->accounting.delivered, 20U);
}

// Against a model with one entry per offset: after every step the identity holds and the same prefix is committable.
TEST(PartitionProgress, AgreesWithAModelUnderRandomSteps) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t start = random() % 1000;
    PartitionProgress progress = fresh(start);
    std::vector<Fate> model;  // of offset start + i
    std::uint64_t committed = 0;
    client::Accounting accounting;
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t size = model.size();
      const std::uint64_t a = size == committed ? committed : committed + random() % (size - committed);
      const std::uint64_t b = size == a ? a : a + random() % (size - a + 1);
      switch (random() % 5) {
        case 0: {
          const std::uint64_t more = random() % 8;
          const Fate fate = std::array{Fate::kPending, Fate::kPending, Fate::kGap, Fate::kExpired, Fate::kDelivered}[random() % 5];
          progress.extend(Offset(start + size + more), fate);
          model.insert(model.end(), more, fate);
          break;
        }
        case 1:
        case 2: {
          const Fate fate = std::array{Fate::kAccepted, Fate::kSkipped, Fate::kDeadLettered, Fate::kFiltered}[random() % 4];
          progress.settle(Offset(start + a), Offset(start + b), fate);
          for (std::uint64_t i = a; i < b; ++i) {
            if (model[i] == Fate::kPending) model[i] = fate;
          }
          break;
        }
        case 3:
          progress.make_durable(Offset(start + b));
          for (std::uint64_t i = committed; i < b; ++i) {
            if (model[i] == Fate::kAccepted) model[i] = Fate::kDelivered;
          }
          break;
        default: {
          std::uint64_t next = committed;
          for (; next < size && model[next] != Fate::kPending && model[next] != Fate::kAccepted; ++next) add(accounting, model[next], 1);
          const auto commit = progress.committable();
          ASSERT_EQ(commit.has_value(), next > committed);
          if (!commit) break;
          ASSERT_EQ(commit->next, Offset(start + next));
          ASSERT_EQ(commit->accounting, accounting);
          progress.committed(*commit);
          committed = next;
        }
      }
      std::uint64_t open = 0;
      for (std::size_t fate = 0; fate < kFates; ++fate) open += progress.count(static_cast<Fate>(fate));
      ASSERT_EQ(progress.accounting().sum() + open, progress.read_next() - progress.start_offset());
      ASSERT_EQ(open, model.size() - committed);
    }
  }
}

}  // namespace
}  // namespace sluice::pipeline
