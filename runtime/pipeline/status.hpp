// SPDX-License-Identifier: Apache-2.0
// What a connector says of itself: the one source of `connector list|status|why`, /ready and the metrics. Plain snapshots, taken by any
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/client/client.hpp"
#include "runtime/config/connector_config.hpp"

namespace sluice::pipeline {

// Derived from progress. `stalled` = lag > 0 or a call in flight, and no acknowledgement for stall_after. Idle at lag 0 is running.
enum class State : std::uint8_t { kStarting, kConnecting, kRunning, kRetrying, kStalled, kPaused, kStopping, kStopped, kError };
[[nodiscard]] std::string_view to_string(State state);

// The last thing that went wrong, as the plugin or the host said it; secrets masked, valid UTF-8, bounded.
struct Problem {
  std::string outcome_class;  // transient, permanent, ambiguous, invalid_config, cancelled, fatal
  std::string scope;          // record, connector
  std::string code;
  std::string text;
  std::string hint;
  std::int32_t http_status = 0;
  TimestampUs at;
};

// Per partition of a sink's input. in = delivered + filtered + skipped + dead_lettered + expired + gap + pending, pending counted from the
// queues.
struct PartitionStatus {
  client::TopicName topic;
  PartitionIndex partition;
  Epoch epoch;
  Offset start_offset;
  Offset committed_next;
  Offset high_watermark;
  std::uint64_t pending = 0;  // read from the log, not yet committed
  client::Accounting accounting;
  std::uint64_t lag_records = 0;         // high_watermark - committed_next
  std::optional<TimestampUs> oldest_at;  // when the log took the first uncommitted record, or one read just before it
  double lag_seconds = 0;                // age of the first uncommitted record; 0 if there is none
  std::uint32_t attempts = 0;            // of the batch being retried
  std::optional<TimestampUs> next_retry_at;
  std::optional<Problem> problem;  // why this partition waits
};

struct SourceStatus {
  std::uint64_t in = 0;
  std::uint64_t appended = 0;
  std::uint64_t filtered = 0;
  std::uint64_t skipped = 0;
  std::uint64_t dead_lettered = 0;
  std::uint64_t state_sequence = 0;
};

struct ConnectorStatus {
  std::string key;
  std::optional<config::ConnectorType> type;  // absent: a definition that was rejected
  std::string plugin;
  std::string plugin_version;
  bool enabled = true;
  State state = State::kStarting;
  TimestampUs since;
  std::optional<Problem> last_error;
  std::optional<TimestampUs> next_retry_at;
  std::optional<TimestampUs> last_success_at;
  std::uint64_t retries = 0;
  std::uint64_t nacks = 0;
  std::uint64_t possible_duplicates = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t queue_records = 0;
  std::uint64_t queue_bytes = 0;
  std::uint32_t restarts = 0;
  std::optional<SourceStatus> source;
  std::vector<PartitionStatus> partitions;  // sinks
  std::vector<std::pair<std::string, double>> plugin_metrics;
};

}  // namespace sluice::pipeline
