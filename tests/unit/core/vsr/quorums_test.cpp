// SPDX-License-Identifier: Apache-2.0
#include "core/vsr/quorums.hpp"

#include <gtest/gtest.h>

namespace sluice::vsr {
namespace {

TEST(Quorums, ExistForOneThreeAndFiveReplicasOnly) {
  for (const std::size_t count : {0, 2, 4, 6, 7, 256 + 1, 256 + 3}) {
    EXPECT_FALSE(Quorums::of(count).has_value()) << count;
  }
  EXPECT_EQ(Quorums::of(1)->replication(), 1);
  EXPECT_EQ(Quorums::of(3)->replication(), 2);
  EXPECT_EQ(Quorums::of(5)->replication(), 3);
}

TEST(Quorums, OfTwoKindsAlwaysShareAReplica) {
  for (const std::size_t count : {1, 3, 5}) {
    const Quorums quorums = *Quorums::of(count);
    EXPECT_GT(quorums.replication() + quorums.view_change(), quorums.count());
    EXPECT_GT(quorums.replication() + quorums.nack(), quorums.count());
    EXPECT_GT(quorums.view_change() + quorums.view_change(), quorums.count()) << "one view has one log";
  }
}

TEST(Quorums, EveryReplicaIsPrimaryInItsTurn) {
  const Quorums quorums = *Quorums::of(3);
  EXPECT_EQ(quorums.primary(View(0)), ReplicaIndex(0));
  EXPECT_EQ(quorums.primary(View(4)), ReplicaIndex(1));
  EXPECT_EQ(quorums.primary(View(0xFFFFFFFF)), ReplicaIndex(0));
}

}  // namespace
}  // namespace sluice::vsr
