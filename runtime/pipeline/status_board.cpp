// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/status_board.hpp"

#include <algorithm>

#include "runtime/pipeline/failure.hpp"

namespace sluice::pipeline {

TimestampUs wall_at(const Clock& clock, Clock::Monotonic at) {
  return clock.wall() + std::chrono::duration_cast<std::chrono::microseconds>(at - clock.monotonic()).count();
}

StatusBoard::StatusBoard(const config::ConnectorConfig& config, const Clock& clock)
    : clock_(clock), tracker_(config.stall_after, clock.monotonic()) {
  status_.key = config.key;
  status_.type = config.type;
  status_.plugin = config.plugin;
  status_.enabled = config.enabled;
}

ConnectorStatus StatusBoard::snapshot() const {
  const std::lock_guard lock(mutex_);
  ConnectorStatus out = status_;
  const StateTracker::View view = tracker_.view(clock_.monotonic());
  out.state = view.state;
  out.since = wall_at(clock_, view.since);
  if (view.retry_at) out.next_retry_at = wall_at(clock_, *view.retry_at);
  const TimestampUs now = clock_.wall();
  for (PartitionStatus& partition : out.partitions) {
    partition.lag_seconds = partition.oldest_at ? std::max(0.0, static_cast<double>(now - *partition.oldest_at) / 1e6) : 0.0;
  }
  if (metrics_) out.plugin_metrics = metrics_();
  return out;
}

void StatusBoard::enter(StateTracker::Phase phase) {
  update([&](ConnectorStatus&, StateTracker& tracker, Clock::Monotonic now) { tracker.enter(phase, now); });
}

void StatusBoard::report(const plugin::Outcome& outcome) {
  update([&](ConnectorStatus& status, StateTracker&, Clock::Monotonic) { status.last_error = to_problem(outcome, clock_.wall()); });
}

void StatusBoard::succeeded() {
  update([&](ConnectorStatus& status, StateTracker& tracker, Clock::Monotonic now) {
    status.last_success_at = clock_.wall();
    tracker.progressed(now);
  });
}

void StatusBoard::set_metrics(Metrics metrics) {
  const std::lock_guard lock(mutex_);
  if (!metrics && metrics_) status_.plugin_metrics = metrics_();
  metrics_ = std::move(metrics);
}

}  // namespace sluice::pipeline
