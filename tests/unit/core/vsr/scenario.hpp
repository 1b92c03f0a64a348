// SPDX-License-Identifier: Apache-2.0
// Scenarios that read like sentences. Replicas are called by their number; time passes in milliseconds.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/simulation/vsr/cluster.hpp"

namespace sluice::vsr {

class Scenario : public testing::Test {
 protected:
  Scenario() : group_(std::make_unique<Cluster>(3, 1)) {}
  ~Scenario() override { EXPECT_EQ(group_->checks().wrong(), ""); }

  void group_of(std::size_t count, std::uint32_t created_view = 0) { group_ = std::make_unique<Cluster>(count, 1, View(created_view)); }
  void pass(int time_ms) { group_->run(milliseconds(time_ms)); }
  void after_an_election() { pass(1500); }

  // A client appends entries at the primary, and time passes until they could be answered.
  void append(std::size_t count = 1) {
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(group_->propose()) << group_->text();
    }
    pass(40);
  }
  void append_at(std::uint8_t replica) {
    EXPECT_TRUE(group_->propose_at(replica)) << group_->text();
    pass(40);
  }

  void crash(std::initializer_list<std::uint8_t> replicas) {
    for (const std::uint8_t replica : replicas) group_->crash(replica);
  }
  void restart(std::initializer_list<std::uint8_t> replicas) {
    for (const std::uint8_t replica : replicas) group_->restart(replica);
  }
  void isolate(std::uint8_t replica) { group_->isolate(replica); }
  void heal() { group_->heal(); }

  void expect_primary(std::uint8_t replica) {
    ASSERT_TRUE(group_->primary().has_value()) << group_->text();
    EXPECT_EQ(int{*group_->primary()}, int{replica}) << group_->text();
  }
  void expect_no_primary() { EXPECT_FALSE(group_->primary().has_value()) << group_->text(); }
  void expect_answered(std::size_t count) { EXPECT_EQ(group_->answered(), count) << group_->text(); }
  void expect_committed(std::size_t count) { EXPECT_EQ(group_->checks().committed(), Op(count)) << group_->text(); }
  void expect_converged() { EXPECT_TRUE(group_->converged()) << group_->text(); }
  void expect_view(std::uint8_t replica, std::uint32_t view) { EXPECT_EQ(group_->replica(replica).view(), View(view)) << group_->text(); }

  std::unique_ptr<Cluster> group_;
};

}  // namespace sluice::vsr
