// SPDX-License-Identifier: Apache-2.0
// A connector's definition after validation: what connectors.d/*.toml says, with defaults filled in. Plain values, no TOML.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/client/topic.hpp"

namespace sluice::config {

enum class ConnectorType : std::uint8_t { kSource, kSink };

// Where a value came from, for messages: "connectors.d/orders.toml:12:5" or "environment variable SLUICE__…".
struct Origin {
  std::string file;          // empty for an environment variable
  std::uint32_t line = 0;    // 1-based
  std::uint32_t column = 0;  // 1-based
  std::string variable;      // name of the environment variable, or empty
};
[[nodiscard]] std::string to_string(const Origin& origin);

struct StartEarliest {};
struct StartLatest {};
using StartFrom = std::variant<StartEarliest, StartLatest, TimestampUs>;

enum class Ordering : std::uint8_t { kPartition, kKey, kNone };
enum class Disposition : std::uint8_t { kStop, kSkip, kDeadLetter };

// How long transient record failures are retried before `then` applies. Both absent = unlimited.
struct TransientPolicy {
  std::optional<std::uint32_t> attempts_max;
  std::optional<std::chrono::milliseconds> duration_max;
  Disposition then = Disposition::kStop;
};

struct FailureConfig {
  TransientPolicy transient;
  Disposition record = Disposition::kDeadLetter;
  double dead_letter_ratio_max = 0.5;  // of the last 1000 outcomes, judged once there are 100
};

struct BatchingConfig {
  std::uint32_t records_max = 1000;
  std::uint64_t bytes_max = 4ULL << 20;
  std::chrono::milliseconds linger{0};
  std::uint64_t unacked_records_max = 10'000;  // sinks: accepted but not yet durable, per partition
  std::uint64_t unacked_bytes_max = 64ULL << 20;
};

// After a connector has failed (never after outcomes of class invalid_config or fatal).
struct RestartConfig {
  bool enabled = true;
  std::chrono::milliseconds base_delay{1000};
  std::chrono::milliseconds max_delay{60'000};
};

// Where the plugin runs.
enum class Isolation : std::uint8_t { kInProcess, kProcess };

// For isolation = "process".
struct ProcessConfig {
  std::uint64_t memory_bytes_max = 1ULL << 30;
  std::chrono::milliseconds call_timeout{60'000};
};

struct StreamConfig {
  client::TopicName name;
  client::TopicOptions topic;  // used when the connector makes the topic
};

struct ConnectorConfig {
  std::string key;  // [a-z][a-z0-9]*(_[a-z0-9]+)*, ≤ 64
  ConnectorType type = ConnectorType::kSource;
  std::string plugin;     // an id in the plugin search path, or a path
  std::string connector;  // id inside the plugin; empty = the plugin's only connector of this type
  bool enabled = true;
  StartFrom start_from = StartEarliest{};  // sinks, for partitions without a committed offset
  bool out_of_range_to_earliest = false;   // on_out_of_range = "earliest"; default: error
  Ordering ordering = Ordering::kPartition;
  std::optional<std::uint64_t> records_per_second_max;  // rate_limit
  std::chrono::milliseconds stall_after{30'000};
  std::uint64_t record_bytes_max = 8ULL << 20;  // max_record_bytes
  FailureConfig failure;
  BatchingConfig batching;
  RestartConfig restart;
  Isolation isolation = Isolation::kInProcess;
  ProcessConfig process;
  std::vector<StreamConfig> streams;                    // sources: outputs; sinks: inputs; at least one
  std::string plugin_config_json;                       // UTF-8 JSON, secrets resolved; never logged
  std::vector<std::string> secrets;                     // resolved secret values, to be masked wherever text leaves the process
  Origin origin;                                        // of the file
  std::map<std::string, Origin> plugin_config_origins;  // JSON pointer → place, to map a plugin's config error back
};

}  // namespace sluice::config
