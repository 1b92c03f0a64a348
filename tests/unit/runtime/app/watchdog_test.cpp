// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/watchdog.hpp"

#include <future>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::app {
namespace {

TEST(Heartbeat, BeatsOnlyAfterTheAnswerAndAsksOneQuestionAtATime) {
  std::vector<Heartbeat::Answer> asked;
  Heartbeat heart([&](Heartbeat::Answer answer) { asked.push_back(std::move(answer)); });
  EXPECT_FALSE(heart.tick());
  EXPECT_FALSE(heart.tick());
  ASSERT_EQ(asked.size(), 1U);
  asked[0]();
  EXPECT_TRUE(heart.tick());
  EXPECT_EQ(asked.size(), 2U);
  EXPECT_FALSE(heart.tick()) << "an answer counts once";
}

TEST(Heartbeat, MayBeGoneWhenTheAnswerComes) {
  Heartbeat::Answer late;
  {
    Heartbeat heart([&](Heartbeat::Answer answer) { late = std::move(answer); });
    EXPECT_FALSE(heart.tick());
  }
  late();
}

TEST(Watchdog, TellsThatItsHeartBeats) {
  std::promise<void> told;
  std::atomic<int> times = 0;
  const Watchdog watchdog(std::chrono::milliseconds(4), Heartbeat([](Heartbeat::Answer answer) { answer(); }), [&] {
    if (++times == 2) told.set_value();
  });
  told.get_future().wait();
}

}  // namespace
}  // namespace sluice::app
