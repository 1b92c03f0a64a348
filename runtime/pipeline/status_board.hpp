// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "runtime/pipeline/state_tracker.hpp"
#include "runtime/pipeline/status.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::pipeline {

// What a connector shows of itself. The worker writes once per batch, anybody reads; each holds the lock for a copy of a few fields. Owned
// by the connector's runner, outlives its workers.
class StatusBoard {
 public:
  StatusBoard(const config::ConnectorConfig& config, const Clock& clock);

  // [any thread]
  [[nodiscard]] ConnectorStatus snapshot() const;

  // `change(ConnectorStatus&, StateTracker&, now)` under the lock; it must be short. [any thread]
  template <typename Change>
  void update(Change&& change) {
    const std::lock_guard lock(mutex_);
    change(status_, tracker_, clock_.monotonic());
  }
  void enter(StateTracker::Phase phase);
  void report(const plugin::Outcome& outcome);
  // Something arrived where it should.
  void succeeded();

  // Where the plugin's own metrics come from while an instance lives; empty afterwards.
  using Metrics = std::function<std::vector<std::pair<std::string, double>>()>;
  void set_metrics(Metrics metrics);

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  mutable StateTracker tracker_;
  ConnectorStatus status_;
  Metrics metrics_;
};

// The wall clock's reading at a monotonic instant.
[[nodiscard]] TimestampUs wall_at(const Clock& clock, Clock::Monotonic at);

}  // namespace sluice::pipeline
