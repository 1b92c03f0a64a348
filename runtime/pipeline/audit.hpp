// SPDX-License-Identifier: Apache-2.0
// What the commits of a connector say, held against what the log holds. Reads the log from the start of the accounting: slow, and correct
// while the connector runs and retention goes on. Ends with base.cancelled soon after `stop` is requested.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/result.hpp"
#include "core/client/client.hpp"
#include "runtime/config/connector_config.hpp"
#include "runtime/pipeline/supervisor.hpp"

namespace sluice::pipeline {

[[nodiscard]] Result<std::vector<AuditRow>> audit_sink(client::Client& client, const config::ConnectorConfig& config,
                                                       const std::stop_token& stop);
// One row per output partition, and what the source's state says in the first.
[[nodiscard]] Result<std::vector<AuditRow>> audit_source(client::Client& client, const config::ConnectorConfig& config,
                                                         const std::stop_token& stop);

// The offsets of one connector's sink that became dead letters, by partition. Twice the same after a crash counts once.
struct DeadLetterOffsets {
  using Key = std::tuple<client::TopicName, PartitionIndex, Incarnation>;
  std::map<Key, std::set<Offset>> by_partition;
  bool complete = true;  // false: retention has removed some
};
[[nodiscard]] Result<DeadLetterOffsets> find_dead_letters(client::Client& client, const std::string& connector,
                                                          const std::stop_token& stop = {});

// The state with the highest sequence of all partitions of the source's outputs.
[[nodiscard]] Result<std::optional<client::SourceState>> newest_source_state(client::Client& client, const config::ConnectorConfig& config);

}  // namespace sluice::pipeline
