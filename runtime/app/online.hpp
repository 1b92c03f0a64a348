// SPDX-License-Identifier: Apache-2.0
// The commands that ask a running daemon. Each prints its result and answers an exit code, or an Error for Console::report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "runtime/app/console.hpp"
#include "runtime/app/remote.hpp"

namespace sluice::app {

struct TopicCreate {
  std::string name;
  std::optional<std::uint64_t> partitions;
  bool no_fsync = false;
  std::optional<std::uint64_t> flush_interval_ms;
  std::optional<std::uint64_t> segment_bytes;
  std::optional<std::uint64_t> retention_bytes;
  std::optional<std::uint64_t> retention_age_ms;
  bool wait_for_consumers = false;
  std::optional<std::uint64_t> hard_bytes;
};
[[nodiscard]] Result<ExitCode> topic_create(const Console& console, const ServerOptions& server, const TopicCreate& topic);
[[nodiscard]] Result<ExitCode> topic_list(const Console& console, const ServerOptions& server);
[[nodiscard]] Result<ExitCode> topic_describe(const Console& console, const ServerOptions& server, const std::string& topic);

struct TopicPurge {
  std::string name;
  bool carry_out = false;  // else it shows what would go
};
[[nodiscard]] Result<ExitCode> topic_purge(const Console& console, const ServerOptions& server, const TopicPurge& purge);

struct Produce {
  std::string topic;
  std::string file = "-";  // ndjson; "-" = standard input
  bool lines = false;      // each line is a payload, not a JSON object
  std::optional<std::uint32_t> partition;
  std::string key;  // with --lines
};
[[nodiscard]] Result<ExitCode> produce(const Console& console, const ServerOptions& server, const Produce& options);

struct Consume {
  std::string topic;
  std::optional<std::uint32_t> partition;  // default: all, one after the other
  std::string offset;                      // number, earliest or latest
  std::string time;                        // RFC 3339
  std::optional<std::uint64_t> limit;
  bool follow = false;
};
// Writes ndjson whether --json is given or not.
[[nodiscard]] Result<ExitCode> consume(const Console& console, const ServerOptions& server, const Consume& options);

[[nodiscard]] Result<ExitCode> connector_list(const Console& console, const ServerOptions& server);
[[nodiscard]] Result<ExitCode> connector_status(const Console& console, const ServerOptions& server, const std::string& key);
[[nodiscard]] Result<ExitCode> connector_why(const Console& console, const ServerOptions& server, const std::string& key);
// action: pause, resume, restart.
[[nodiscard]] Result<ExitCode> connector_action(const Console& console, const ServerOptions& server, const std::string& key,
                                                const std::string& action);
// kFailure if the log and the commits disagree.
[[nodiscard]] Result<ExitCode> connector_audit(const Console& console, const ServerOptions& server, const std::string& key);
[[nodiscard]] Result<ExitCode> state_show(const Console& console, const ServerOptions& server, const std::string& key);

struct DeadLetterList {
  std::string connector;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> limit;
};
[[nodiscard]] Result<ExitCode> dead_letter_list(const Console& console, const ServerOptions& server, const DeadLetterList& options);
[[nodiscard]] Result<ExitCode> dead_letter_show(const Console& console, const ServerOptions& server, const std::string& connector,
                                                std::uint64_t offset);
[[nodiscard]] Result<ExitCode> dead_letter_retry(const Console& console, const ServerOptions& server, const std::string& connector,
                                                 std::optional<std::uint64_t> only);

}  // namespace sluice::app
