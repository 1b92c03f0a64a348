// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/state_tracker.hpp"

#include <gtest/gtest.h>

namespace sluice::pipeline {
namespace {

using namespace std::chrono_literals;
using Phase = StateTracker::Phase;

StateTracker running(Clock::Monotonic now = 0s) {
  StateTracker tracker(30s, 0s);
  tracker.enter(Phase::kRunning, now);
  return tracker;
}

TEST(StateTracker, FollowsThePhases) {
  StateTracker tracker(30s, 0s);
  EXPECT_EQ(tracker.view(1s).state, State::kStarting);
  const std::pair<Phase, State> steps[] = {{Phase::kConnecting, State::kConnecting}, {Phase::kRunning, State::kRunning},
                                           {Phase::kPaused, State::kPaused},         {Phase::kStopping, State::kStopping},
                                           {Phase::kStopped, State::kStopped},       {Phase::kError, State::kError}};
  Clock::Monotonic now = 2s;
  for (const auto& [phase, state] : steps) {
    tracker.enter(phase, now);
    EXPECT_EQ(tracker.view(now).state, state);
    EXPECT_EQ(tracker.view(now + 1s).since, now);
    now += 10s;
  }
}

TEST(StateTracker, IdleWithoutLagIsRunningForEver) {
  StateTracker tracker = running();
  EXPECT_EQ(tracker.view(24h).state, State::kRunning);
}

TEST(StateTracker, LagWithoutAcknowledgementStalls) {
  StateTracker tracker = running();
  tracker.set_lagging(true, 100s);
  EXPECT_EQ(tracker.view(129s).state, State::kRunning);
  EXPECT_EQ(tracker.view(130s).state, State::kStalled);
  EXPECT_EQ(tracker.view(500s).since, Clock::Monotonic(130s));
  tracker.progressed(501s);
  EXPECT_EQ(tracker.view(501s).state, State::kRunning);
  EXPECT_EQ(tracker.view(531s).state, State::kStalled);
}

TEST(StateTracker, AnIdleHourBeforeTheFirstRecordDoesNotCount) {
  StateTracker tracker = running();
  tracker.set_lagging(false, 0s);
  tracker.set_lagging(true, 3600s);
  EXPECT_EQ(tracker.view(3601s).state, State::kRunning);
}

TEST(StateTracker, AHangingCallStallsByItself) {
  StateTracker tracker = running();
  tracker.call_begins(10s);
  EXPECT_EQ(tracker.view(39s).state, State::kRunning);
  EXPECT_EQ(tracker.view(40s).state, State::kStalled);
  tracker.call_ends();
  EXPECT_EQ(tracker.view(41s).state, State::kRunning);
}

TEST(StateTracker, RetryingLastsUntilASuccess) {
  StateTracker tracker = running();
  tracker.set_lagging(true, 0s);
  tracker.set_retry(5s);
  EXPECT_EQ(tracker.view(1s).state, State::kRetrying);
  EXPECT_EQ(tracker.view(1s).retry_at, Clock::Monotonic(5s));
  tracker.call_begins(5s);
  EXPECT_EQ(tracker.view(6s).state, State::kRetrying);
  tracker.call_ends();
  EXPECT_EQ(tracker.view(3600s).state, State::kRetrying);
  tracker.clear_retry();
  tracker.progressed(3600s);
  EXPECT_EQ(tracker.view(3600s).state, State::kRunning);
}

TEST(StateTracker, ARetryThatHangsStalls) {
  StateTracker tracker = running();
  tracker.set_lagging(true, 0s);
  tracker.set_retry(100s);
  tracker.call_begins(100s);
  EXPECT_EQ(tracker.view(129s).state, State::kRetrying);
  EXPECT_EQ(tracker.view(130s).state, State::kStalled);
}

TEST(StateTracker, AFailedOpenIsRetryingAndItsAttemptConnecting) {
  StateTracker tracker(30s, 0s);
  tracker.enter(Phase::kConnecting, 1s);
  EXPECT_EQ(tracker.view(1s).state, State::kConnecting);
  tracker.set_retry(3s);
  EXPECT_EQ(tracker.view(2s).state, State::kRetrying);
  tracker.clear_retry();
  EXPECT_EQ(tracker.view(3s).state, State::kConnecting);
}

TEST(StateTracker, PausedWithLagIsPaused) {
  StateTracker tracker = running();
  tracker.set_lagging(true, 0s);
  tracker.enter(Phase::kPaused, 1s);
  EXPECT_EQ(tracker.view(3600s).state, State::kPaused);
  tracker.enter(Phase::kRunning, 3600s);
  EXPECT_EQ(tracker.view(3601s).state, State::kRunning);
}

TEST(StateTracker, ARefusedPartitionIsAStall) {
  StateTracker tracker = running();
  tracker.set_blocked(true);
  EXPECT_EQ(tracker.view(1s).state, State::kStalled);
}

}  // namespace
}  // namespace sluice::pipeline
