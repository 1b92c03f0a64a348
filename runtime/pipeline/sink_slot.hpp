// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "runtime/pipeline/dead_letter.hpp"
#include "runtime/pipeline/lane.hpp"
#include "runtime/pipeline/status.hpp"
#include "runtime/plugin/sink_instance.hpp"

namespace sluice::pipeline {

// One partition that a sink worker serves: its lane and what is under way for it in the core. Worker thread.
struct SinkSlot {
  SinkSlot(plugin::Assignment to, Lane with, const RetryPolicy& delays)
      : assignment(std::move(to)), lane(std::move(with)), read_retry(delays), commit_retry(delays), bury_retry(delays) {}

  plugin::Assignment assignment;
  Lane lane;
  std::size_t shown_at = 0;  // index in ConnectorStatus::partitions
  Offset high_watermark;
  std::uint64_t record_bytes_mean = 256;  // of the last reads; a first guess
  bool reading = false;
  bool burying = false;
  RetrySchedule read_retry;
  RetrySchedule commit_retry;
  RetrySchedule bury_retry;
  std::deque<std::pair<Offset, TimestampUs>> arrivals;  // first offset and timestamp of each read that is not all committed

  std::optional<Problem> problem;  // of the record that failed last

  // A redrive of dead letters: ends at `limit`, and its records have their original coordinates here.
  std::optional<Offset> limit;
  bool positioned = true;  // false: one dead letter out of order, whose success moves no position
  std::map<Offset, DeadLetterReason> origins;

  [[nodiscard]] bool caught_up() const { return lane.fresh_records() == 0 && lane.read_next() >= limit.value_or(high_watermark); }
};

}  // namespace sluice::pipeline
