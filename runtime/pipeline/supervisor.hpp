// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/client/client.hpp"
#include "runtime/config/connector_config.hpp"
#include "runtime/config/loader.hpp"
#include "runtime/pipeline/status.hpp"
#include "runtime/pipeline/worker.hpp"

namespace sluice::plugin {
class PluginCatalog;
}

namespace sluice::pipeline {

enum class Errc : std::uint8_t { kConnectorNotFound, kAlreadyPaused, kNotPaused, kBusy, kAbandoned, kDisabled, kNotRedrivable };
[[nodiscard]] const ErrorInfo& error_info(Errc code);

struct StopReport {
  bool drained = true;
  std::vector<std::string> abandoned;  // keys of instances whose call never returned
};

// What `connector audit` recomputed from the log, per partition, beside what the commits say.
struct AuditRow {
  client::TopicName topic;
  PartitionIndex partition;
  Offset start_offset;
  Offset committed_next;
  client::Accounting committed;
  std::uint64_t log_records =
      0;  // records in [start_offset, committed_next) that the log held, with gaps and trimmed offsets counted apart
  std::uint64_t log_gaps = 0;
  std::uint64_t log_trimmed = 0;
  std::uint64_t dead_letters_found = 0;  // in dlq.<connector> with this partition's coordinates
  bool consistent = true;
  std::string finding;  // empty if consistent
};

// Owns every connector instance and its worker thread: starts them in parallel, restarts them by policy, answers for their state.
// Thread-safe. start() returns at once; nothing here blocks on a back end.
class Supervisor {
 public:
  struct Options {
    client::Client* client = nullptr;          // outlives the Supervisor
    plugin::PluginCatalog* plugins = nullptr;  // outlives the Supervisor
    U128 cluster_id;
    std::chrono::milliseconds shutdown_deadline{30'000};
    LoadPlugin load{};        // where plugins come from, if not from `plugins`
    RetryPolicies retries{};  // the waits between attempts
    Clock* clock = &system_clock();
  };

  explicit Supervisor(Options options);
  ~Supervisor();  // stop() must have been called

  void start(std::vector<config::ConnectorConfig> connectors, std::vector<config::RejectedConnector> rejected);

  [[nodiscard]] std::vector<ConnectorStatus> list() const;
  [[nodiscard]] Result<ConnectorStatus> status(const std::string& key) const;
  [[nodiscard]] Result<void> pause(const std::string& key);
  [[nodiscard]] Result<void> resume(const std::string& key);
  // Stops and starts the instance again; a rebuilt plugin file is picked up. kBusy if a restart is under way.
  [[nodiscard]] Result<void> restart(const std::string& key);
  // Reads the whole log of the connector, so one at a time: kBusy for another. Ends with base.cancelled once `stop` is requested.
  [[nodiscard]] Result<std::vector<AuditRow>> audit(const std::string& key, const std::stop_token& stop = {}) const;
  [[nodiscard]] Result<std::optional<client::SourceState>> source_state(const std::string& key) const;
  // Feeds dead letters of this connector to it again; returns how many were taken. Empty selection = all.
  [[nodiscard]] Result<std::uint64_t> retry_dead_letters(const std::string& key, std::optional<Offset> only);

  // Drains everything within the deadline (sources first), then says who was abandoned. Called once.
  [[nodiscard]] StopReport stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::pipeline
