// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/state_tracker.hpp"

#include <algorithm>

namespace sluice::pipeline {

StateTracker::StateTracker(std::chrono::milliseconds stall_after, Clock::Monotonic now)
    : stall_after_(stall_after), phase_since_(now), progress_at_(now), shown_since_(now) {}

void StateTracker::enter(Phase phase, Clock::Monotonic now) {
  if (phase == phase_) return;
  phase_ = phase;
  phase_since_ = now;
  if (phase == Phase::kRunning || phase == Phase::kError || phase == Phase::kStopped) retry_at_.reset();
}

void StateTracker::set_lagging(bool lagging, Clock::Monotonic now) {
  if (!lagging) {
    lag_since_.reset();
  } else if (!lag_since_) {
    lag_since_ = now;
  }
}

State StateTracker::derive(Clock::Monotonic now, Clock::Monotonic& since) const {
  since = phase_since_;
  switch (phase_) {
    case Phase::kStarting:
      return State::kStarting;
    case Phase::kConnecting:
      return retry_at_ ? State::kRetrying : State::kConnecting;
    case Phase::kPaused:
      return State::kPaused;
    case Phase::kStopping:
      return State::kStopping;
    case Phase::kStopped:
      return State::kStopped;
    case Phase::kError:
      return State::kError;
    case Phase::kRunning:
      break;
  }
  // The clock of a stall starts with the work: a record that arrives after an idle hour has not waited an hour.
  std::optional<Clock::Monotonic> work_since = lag_since_;
  if (call_since_) work_since = work_since ? std::min(*work_since, *call_since_) : *call_since_;
  const bool attempt_waits = retry_at_ && !call_since_;
  if (work_since && !attempt_waits) {
    const Clock::Monotonic quiet_since = retry_at_ ? *call_since_ : std::max({*work_since, progress_at_, phase_since_});
    if (now - quiet_since >= stall_after_) {
      since = quiet_since + stall_after_;
      return State::kStalled;
    }
  }
  if (retry_at_) return State::kRetrying;
  return blocked_ ? State::kStalled : State::kRunning;
}

StateTracker::View StateTracker::view(Clock::Monotonic now) {
  Clock::Monotonic since{0};
  const State state = derive(now, since);
  if (state != shown_) {
    shown_ = state;
    shown_since_ = state == State::kRunning || state == State::kRetrying ? now : since;
  }
  return {state, shown_since_, retry_at_};
}

}  // namespace sluice::pipeline
