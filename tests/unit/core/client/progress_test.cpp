// SPDX-License-Identifier: Apache-2.0
// How far a start is.
#include "core/node/errc.hpp"
#include "core/storage/errc.hpp"
#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

class StartProgress : public ClientTest {
 protected:
  // Three partitions, the first with one complete segment.
  void SetUp() override {
    ClientTest::SetUp();
    const TopicInfo topic = create("a", {.partitions = 3, .segment_bytes = kSegmentBytesMin});
    for (int i = 0; i < 3; ++i) append(topic.partitions[0].ref, {std::string(kSegmentBytesMin / 2 - 100'000, 'x')});
    for (const PartitionInfo& partition : client_->describe_topic({"s", "a"})->partitions) size_ += partition.size_bytes;
    stop();
  }
  [[nodiscard]] node::NodeOptions watched() {
    auto options = node_options();
    options.progress = progress_;
    options.on_locked = [this]() -> Result<void> {
      EXPECT_EQ(progress_->partitions, 0U);
      const auto second = node::Node::open(node_options());
      EXPECT_TRUE(!second && second.error().is(storage::Errc::kLocked));
      ++locked_;
      return {};
    };
    return options;
  }

  std::uint64_t size_ = 0;
  int locked_ = 0;
  std::shared_ptr<node::RecoveryProgress> progress_ = std::make_shared<node::RecoveryProgress>();
};

TEST_F(StartProgress, EndsWithEverythingThatWasAnnounced) {
  {
    const auto opened = node::Node::open(watched());
    ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
  }
  EXPECT_EQ(locked_, 1);
  EXPECT_EQ(progress_->partitions, 3U);
  EXPECT_EQ(progress_->partitions_opened, 3U);
  EXPECT_EQ(progress_->bytes, size_);
  EXPECT_EQ(progress_->bytes_judged, size_);
}

TEST_F(StartProgress, AnnouncesOnlyWhatIsWalked) {
  auto options = watched();
  options.verify_sealed = false;
  {
    const auto opened = node::Node::open(std::move(options));
    ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
  }
  EXPECT_LT(progress_->bytes, size_);
  EXPECT_EQ(progress_->bytes_judged, progress_->bytes);
}

TEST_F(StartProgress, IsEndedByWhoeverWaitsForTheLock) {
  auto options = watched();
  options.on_locked = []() -> Result<void> { return fail(sluice::Errc::kCancelled, "no"); };
  const auto opened = node::Node::open(std::move(options));
  ASSERT_FALSE(opened.has_value());
  EXPECT_TRUE(opened.error().is(sluice::Errc::kCancelled));
  EXPECT_EQ(progress_->partitions, 0U);
}

}  // namespace
}  // namespace sluice::client
