// SPDX-License-Identifier: Apache-2.0
#include "core/vsr/replica.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>

namespace sluice::vsr {
namespace {

constexpr U128 kRoot{1, 0};

// Replica 0, the primary of view 0, on its own: what the others say is up to the test.
class Primary : public testing::Test {
 protected:
  void begin(std::size_t count) {
    replica_ = std::make_unique<Replica>(ReplicaConfig{.self = ReplicaIndex(0), .quorums = *Quorums::of(count), .root_id = kRoot}, View(0));
    replica_->start(now_, *effects_);
  }
  void propose() {
    const OpId head = replica_->head();
    step(Proposed{{.op = head.op.next(), .view = View(0), .id = {100 + head.op.value(), 0}, .parent = head.id}});
  }
  void hear_prepare_ok(std::uint8_t from, OpId entry) {
    step(Message{.from = ReplicaIndex(from), .view = View(0), .body = PrepareOk{entry}});
  }
  void step(const Event& event) { replica_->step(now_, event, *effects_); }

  Instant now_{};
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<Effects> effects_ = std::make_unique<Effects>();
};

// No replica of the group says this; one of a group that had its name before might.
TEST_F(Primary, CountsNoAcknowledgementOfAnotherEntryInThatPlace) {
  begin(3);
  propose();
  step(EntryDurable{.entry = replica_->head(), .epoch = {}});
  hear_prepare_ok(1, {.op = Op(1), .id = {7, 7}});
  EXPECT_EQ(replica_->commit(), Op(0));
  hear_prepare_ok(1, replica_->head());
  EXPECT_EQ(replica_->commit(), Op(1));
}

TEST_F(Primary, HasRoomForTheMessagesOfItsLongestStepAndNoMore) {
  begin(kReplicasMax);
  for (std::size_t i = 0; i <= kResentEntriesMax; ++i) propose();
  now_ += Timing{}.resend;
  step(Tick{});
  EXPECT_EQ(effects_->sends().size(), Effects::kSendsMax);
}

// A log loses its end, so one that reaches its doubt has lost nothing.
TEST(Replica, IsInNoDoubtThatItsLogReaches) {
  const Header entry{.op = Op(1), .view = View(0), .id = {100, 0}, .parent = kRoot};
  const ReplicaConfig config{.self = ReplicaIndex(0), .quorums = *Quorums::of(3), .root_id = kRoot};
  for (const std::uint64_t doubtful_to : {1U, 2U}) {
    Replica replica(config, {.view = View(0),
                             .log_view = View(0),
                             .commit = Op(0),
                             .doubtful_to = Op(doubtful_to),
                             .log_headers = std::span(&entry, 1),
                             .record_headers = {}});
    const auto effects = std::make_unique<Effects>();
    replica.start({}, *effects);
    ASSERT_TRUE(effects->persist.has_value());
    EXPECT_EQ(effects->persist->doubtful_to, doubtful_to == 1 ? Op(0) : Op(2));
  }
}

// What it lost and has got back is in doubt until it is durable again, whatever is truncated above it.
TEST(Replica, StaysInDoubtBelowATruncation) {
  const Header first{.op = Op(1), .view = View(0), .id = {100, 0}, .parent = kRoot};
  const Header lost{.op = Op(2), .view = View(0), .id = {101, 0}, .parent = first.id};
  const Header above{.op = Op(3), .view = View(0), .id = {102, 0}, .parent = lost.id};
  const std::array certified{first, lost, above};
  Replica replica({.self = ReplicaIndex(2), .quorums = *Quorums::of(3), .root_id = kRoot}, {.view = View(0),
                                                                                            .log_view = View(0),
                                                                                            .commit = Op(1),
                                                                                            .doubtful_to = Op(2),
                                                                                            .log_headers = std::span(certified).first(1),
                                                                                            .record_headers = certified});
  const auto effects = std::make_unique<Effects>();
  replica.start({}, *effects);
  for (const Header& header : {lost, above}) {
    replica.step({}, Message{.from = ReplicaIndex(0), .view = View(0), .body = RepairEntry{.header = header, .commit = Op(1)}}, *effects);
  }
  ASSERT_EQ(replica.held(), Op(3));
  const StartView start{.commit = Op(1), .headers = std::span(certified).first(2)};
  replica.step({}, Message{.from = ReplicaIndex(1), .view = View(1), .body = start}, *effects);
  ASSERT_TRUE(effects->truncate.has_value());
  EXPECT_EQ(effects->truncate->to.op, Op(2));
  EXPECT_TRUE(replica.doubtful());
}

}  // namespace
}  // namespace sluice::vsr
