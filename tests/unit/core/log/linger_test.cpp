// SPDX-License-Identifier: Apache-2.0
// A flush waits for those whom the one before it has released, and not for long.
#include <deque>

#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class LingerTest : public LogFixture {
 protected:
  void SetUp() override {
    auto with = options();
    with.clock = &clock_;
    with.after = [this](std::chrono::nanoseconds delay, std::move_only_function<void()> task) {
      timers_.push_back(std::move(task));
      delay_ = delay;
    };
    must_open(std::move(with));
  }
  void send() {
    log_->append(stamped(batch_of(1, "x"), true), [this](Result<void> result) { answered_ += result ? 1 : 1000; });
  }
  // The flush in flight, which takes so long.
  void finish_flush(std::chrono::microseconds took) {
    clock_.advance(took);
    queue_.run_one();
  }

  std::deque<std::move_only_function<void()>> timers_;
  std::chrono::nanoseconds delay_{};
  int answered_ = 0;
};
using Linger = LingerTest;

TEST_F(Linger, GathersAsManyAsTheLastFlushHad) {
  for (int i = 0; i < 5; ++i) send();
  finish_flush(std::chrono::microseconds(400));  // of the first alone
  EXPECT_EQ(answered_, 1);
  EXPECT_EQ(queue_.size(), 1U) << "nobody waits after a flush of one";
  finish_flush(std::chrono::microseconds(400));
  EXPECT_EQ(answered_, 5);
  // Four were answered together: their next entries share a flush, however they trickle in.
  for (int i = 0; i < 3; ++i) send();
  EXPECT_EQ(queue_.size(), 0U);
  send();
  EXPECT_EQ(queue_.size(), 1U);
  finish_flush(std::chrono::microseconds(400));
  EXPECT_EQ(answered_, 9);
}

TEST_F(Linger, HalvesOfTheProducersDoNotTakeTurns) {
  for (int i = 0; i < 5; ++i) send();
  finish_flush(std::chrono::microseconds(400));  // of the first alone; the other four go on
  for (int i = 0; i < 4; ++i) send();
  finish_flush(std::chrono::microseconds(400));
  EXPECT_EQ(answered_, 5);
  EXPECT_EQ(queue_.size(), 0U) << "the four that wait are joined by the four that were answered";
  for (int i = 0; i < 4; ++i) send();
  EXPECT_EQ(queue_.size(), 1U);
  finish_flush(std::chrono::microseconds(400));
  EXPECT_EQ(answered_, 13);
}

TEST_F(Linger, EndsByItself) {
  for (int i = 0; i < 5; ++i) send();
  finish_flush(std::chrono::microseconds(80));
  finish_flush(std::chrono::microseconds(80));
  ASSERT_EQ(timers_.size(), 1U);
  EXPECT_EQ(delay_, std::chrono::microseconds(20)) << "a quarter of a flush";
  send();
  EXPECT_EQ(queue_.size(), 0U);
  timers_.front()();
  EXPECT_EQ(queue_.size(), 1U);
  finish_flush(std::chrono::microseconds(80'000));
  EXPECT_EQ(answered_, 6);
  // Once the wait is over, whoever comes late is flushed at once; and an old timer does nothing.
  send();
  EXPECT_EQ(queue_.size(), 1U);
  timers_.front()();
  for (int i = 0; i < 3; ++i) send();
  finish_flush(std::chrono::microseconds(80'000));
  finish_flush(std::chrono::microseconds(80'000));
  EXPECT_EQ(delay_, log::kLingerMax);
}

TEST_F(Linger, KeepsNobodyWaitingWhoWantsASyncOrTheEnd) {
  for (int i = 0; i < 5; ++i) send();
  finish_flush(std::chrono::microseconds(400));
  finish_flush(std::chrono::microseconds(400));
  send();
  EXPECT_EQ(queue_.size(), 0U);
  bool closed = false;
  log_->close([&](Result<void> result) { closed = result.has_value(); });
  queue_.run_all();
  EXPECT_TRUE(closed);
  EXPECT_EQ(answered_, 6);
}

}  // namespace
}  // namespace sluice::test
