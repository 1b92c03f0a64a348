// SPDX-License-Identifier: Apache-2.0
// The answers of the API that describe topics and connectors, as JSON. docs/reference/http.md is the specification.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/client/client.hpp"
#include "core/client/topic.hpp"
#include "runtime/pipeline/status.hpp"
#include "runtime/pipeline/supervisor.hpp"

namespace boost::json {
class object;
}

namespace sluice::http {

[[nodiscard]] boost::json::object topic_json(const client::TopicInfo& topic);
[[nodiscard]] boost::json::object connector_json(const pipeline::ConnectorStatus& status);
// One line of `connector list`: sums over the partitions.
[[nodiscard]] boost::json::object connector_summary_json(const pipeline::ConnectorStatus& status);
// Why it does not go on: each partition whose head record waits, with how long, the last error, attempts, the next retry and a hint.
[[nodiscard]] boost::json::object why_json(const pipeline::ConnectorStatus& status, TimestampUs now);
[[nodiscard]] boost::json::object audit_json(const std::string& connector, const std::vector<pipeline::AuditRow>& rows);
[[nodiscard]] boost::json::object source_state_json(const std::string& connector, const std::optional<client::SourceState>& state);

// A connector that serves: running, or waiting in a way that it gets over by itself.
[[nodiscard]] bool is_ready(const pipeline::ConnectorStatus& status);

}  // namespace sluice::http
