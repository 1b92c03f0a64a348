// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/base/clock.hpp"
#include "runtime/pipeline/status.hpp"

namespace sluice::pipeline {

// Derives a connector's state from its progress. The worker tells what it does; whoever asks evaluates with the time of asking, so a worker
// that hangs in a plugin call turns `stalled` without its own doing. Pure, not thread-safe: the StatusBoard guards it.
class StateTracker {
 public:
  // What the worker is about. kRunning covers running, retrying and stalled: which of them is derived.
  enum class Phase : std::uint8_t { kStarting, kConnecting, kRunning, kPaused, kStopping, kStopped, kError };

  StateTracker(std::chrono::milliseconds stall_after, Clock::Monotonic now);

  void enter(Phase phase, Clock::Monotonic now);
  // A call into the plugin begins or ends. A poll that waits for input is no call in flight in this sense: it is not expected to bring
  // anything.
  void call_begins(Clock::Monotonic now) { call_since_ = now; }
  void call_ends() { call_since_.reset(); }
  // There is something to deliver (lag > 0), or there is nothing.
  void set_lagging(bool lagging, Clock::Monotonic now);
  // Something was acknowledged: a write, a commit, an append.
  void progressed(Clock::Monotonic now) { progress_at_ = now; }
  // A failed attempt waits to be repeated; cleared by clear_retry() once one succeeds.
  void set_retry(Clock::Monotonic next_at) { retry_at_ = next_at; }
  void clear_retry() { retry_at_.reset(); }
  // A partition is refused: it makes no progress, whatever the others do.
  void set_blocked(bool blocked) { blocked_ = blocked; }

  struct View {
    State state;
    Clock::Monotonic since;                    // monotonic
    std::optional<Clock::Monotonic> retry_at;  // of the attempt that waits
  };
  // Remembers when the derived state last changed; called with rising times.
  [[nodiscard]] View view(Clock::Monotonic now);
  [[nodiscard]] Phase phase() const { return phase_; }

 private:
  [[nodiscard]] State derive(Clock::Monotonic now, Clock::Monotonic& since) const;

  std::chrono::milliseconds stall_after_;
  Phase phase_ = Phase::kStarting;
  Clock::Monotonic phase_since_;
  std::optional<Clock::Monotonic> call_since_;
  std::optional<Clock::Monotonic> lag_since_;
  std::optional<Clock::Monotonic> retry_at_;
  bool blocked_ = false;
  Clock::Monotonic progress_at_;
  State shown_ = State::kStarting;
  Clock::Monotonic shown_since_;
};

}  // namespace sluice::pipeline
