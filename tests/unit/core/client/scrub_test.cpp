// SPDX-License-Identifier: Apache-2.0
// The scrub of a running node.
#include <fstream>

#include "core/log/errc.hpp"
#include "core/node/errc.hpp"
#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

class NodeScrub : public ClientTest {
 protected:
  // Two partitions with two complete segments each.
  void fill() {
    topic_ = create("a", {.partitions = 2, .segment_bytes = kSegmentBytesMin});
    for (const PartitionInfo& partition : topic_.partitions) {
      for (int i = 0; i < 5; ++i) append(partition.ref, {std::string(kSegmentBytesMin / 2 - 100'000, 'x')});
    }
    stop();
  }
  void start_by_seal(std::uint64_t bytes_per_second) {
    auto options = node_options();
    options.verify_sealed = false;
    options.scrub_bytes_per_second = bytes_per_second;
    options.on_damage = [this](Error error) {
      const std::lock_guard lock(warnings_mutex_);
      damage_.push_back(std::move(error));
    };
    auto node = node::Node::open(std::move(options));
    ASSERT_TRUE(node.has_value()) << node.error().to_string();
    node_ = *std::move(node);
    client_ = std::make_unique<Client>(*node_);
  }
  [[nodiscard]] std::vector<PartitionInfo> partitions() { return client_->describe_topic({"s", "a"})->partitions; }
  // Once what the start has believed is looked at.
  void wait_for_scrub() {
    wait_until([&] {
      const auto now = partitions();
      return std::ranges::all_of(now,
                                 [](const PartitionInfo& p) { return p.scrub.due_segments == 0 && p.scrub.bytes > kSegmentBytesMin / 2; });
    });
  }
  [[nodiscard]] std::string segment(std::uint64_t group) {
    return temporary_ / ("data/groups/" + std::to_string(group) + "-1/00000000000000000001.log");
  }

  TopicInfo topic_;
  std::vector<Error> damage_;
};

TEST_F(NodeScrub, LooksAtEverythingThatTheStartHasBelieved) {
  fill();
  start_by_seal(node::kScrubRateMax);
  wait_for_scrub();
  for (const PartitionInfo& partition : partitions()) EXPECT_TRUE(partition.scrub.damage.empty());
  EXPECT_TRUE(damage_.empty());
}

TEST_F(NodeScrub, FindsDamageAndThePartitionGoesOn) {
  fill();
  const std::uint64_t group = topic_.partitions[0].ref.group.value();
  {
    std::fstream file(segment(group), std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(file.is_open());
    file.seekp(4096 + 5000);
    file.put('!');
  }
  start_by_seal(node::kScrubRateMax);
  wait_for_scrub();
  const auto found = partitions();
  ASSERT_EQ(found[0].scrub.damage.size(), 1U);
  EXPECT_TRUE(found[1].scrub.damage.empty());
  EXPECT_FALSE(found[0].refused.has_value());
  {
    const std::lock_guard lock(warnings_mutex_);
    ASSERT_EQ(damage_.size(), 1U);
    EXPECT_TRUE(damage_.front().is(log::Errc::kScrubDamage));
    EXPECT_NE(damage_.front().to_string().find("s/a/0"), std::string::npos);
    EXPECT_NE(damage_.front().to_string().find(segment(group)), std::string::npos);
  }
  EXPECT_EQ(append(topic_.partitions[0].ref, {"more"}), Offset(6));
  EXPECT_EQ(read_all(topic_.partitions[0].ref, Offset(4)).size(), 2U);
}

TEST_F(NodeScrub, KeepsNeitherADeletionNorAStopWaiting) {
  fill();
  start_by_seal(1);  // the second step comes in days
  wait_until([&] {
    const auto now = partitions();
    return std::ranges::any_of(now, [](const PartitionInfo& p) { return p.scrub.bytes > 0; });
  });
  ASSERT_TRUE(client_->delete_topic({"s", "a"}).has_value());
}

TEST_F(NodeScrub, IsLeftOutAtRateZero) {
  fill();
  start_by_seal(0);
  append(topic_.partitions[0].ref, {"more"});
  for (const PartitionInfo& partition : partitions()) EXPECT_EQ(partition.scrub.bytes, 0U);
}

}  // namespace
}  // namespace sluice::client
