// SPDX-License-Identifier: Apache-2.0
#include "core/log/errc.hpp"
#include "core/node/scrub_pace.hpp"
#include "tests/unit/core/node/partition_fixture.hpp"

namespace sluice::node {
namespace {

constexpr std::chrono::hours kInterval{1};

// Three segments, of which a start has believed two.
class PartitionScrub : public PartitionFixture {
 protected:
  void SetUp() override {
    open(true);
    for (int i = 0; i < 3; ++i) {
      append(std::string(3000, 'x'));
      queue_.run_all();
    }
    ASSERT_TRUE(has_segment(3));
    open(false);
  }
  void open(bool verify_sealed) {
    auto with = options();
    with.segment_bytes = 4096 + 4000;
    with.verify_sealed = verify_sealed;
    start_host({}, with);
    queue_.run_all();
  }
  // Steps until nothing is due; how many.
  int scrub_all() {
    int steps = 0;
    std::optional<Result<std::uint64_t>> bytes;
    while (host_->scrub(kInterval, into(bytes))) {
      queue_.run_all();
      EXPECT_TRUE(bytes && bytes->has_value());
      ++steps;
    }
    return steps;
  }
};

TEST_F(PartitionScrub, LooksAtWhatTheStartHasBelievedAndAgainAfterTheInterval) {
  EXPECT_EQ(scrub_all(), 2);
  EXPECT_EQ(scrub_all(), 0);
  EXPECT_TRUE(damage_.empty());
  const auto view = host_->inspect();
  EXPECT_EQ(view->scrub->bytes(), storage_.bytes(segment(1)).size() + storage_.bytes(segment(2)).size());
  clock_.advance(kInterval);
  EXPECT_EQ(scrub_all(), 2);
}

TEST_F(PartitionScrub, TellsOfDamageOnceWithPartitionSegmentAndPosition) {
  storage_.bytes(segment(2))[4096 + 1000] ^= std::byte{1};
  EXPECT_EQ(scrub_all(), 2);
  clock_.advance(kInterval);
  EXPECT_EQ(scrub_all(), 2);
  ASSERT_EQ(damage_.size(), 1U);
  EXPECT_TRUE(damage_.front().is(log::Errc::kScrubDamage));
  const std::string text = damage_.front().to_string();
  for (const std::string& part : {std::string("s/a/0"), segment(2), std::string("4096")})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  ASSERT_TRUE(host_->inspect().has_value()) << "the partition goes on";
  EXPECT_EQ(host_->inspect()->scrub->damage().size(), 1U);
  EXPECT_TRUE(fatal_.empty());
}

TEST_F(PartitionScrub, IsWaitedForByACloseAndNotBegunAfterIt) {
  std::optional<Result<std::uint64_t>> bytes;
  ASSERT_TRUE(host_->scrub(kInterval, into(bytes)));
  std::optional<Result<void>> closed;
  host_->close(into(closed));
  EXPECT_FALSE(closed.has_value()) << "the step still runs";
  EXPECT_FALSE(host_->scrub(kInterval, [](const Result<std::uint64_t>&) { FAIL(); }));
  queue_.run_all();
  EXPECT_TRUE(bytes.has_value());
  ASSERT_TRUE(closed.has_value() && closed->has_value());
}

TEST_F(PartitionScrub, EndsWithAFence) {
  storage_.fault = test::MemoryStorage::Fault{test::Change::kSync, 1, EIO};
  host_->append({batch_of("x")}, [](const Result<Proposed>& outcome) { EXPECT_FALSE(outcome.has_value()); });
  queue_.run_all();
  ASSERT_EQ(fatal_.size(), 1U);
  EXPECT_FALSE(host_->scrub(kInterval, [](const Result<std::uint64_t>&) { FAIL(); }));
}

}  // namespace
}  // namespace sluice::node
