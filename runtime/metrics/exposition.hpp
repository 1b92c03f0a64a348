// SPDX-License-Identifier: Apache-2.0
// The Prometheus text of a moment, made from snapshots: nothing is registered, nothing is kept between two scrapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/client/client.hpp"
#include "core/client/topic.hpp"
#include "runtime/pipeline/status.hpp"

namespace sluice::metrics {

struct Snapshot {
  std::string version;
  std::vector<pipeline::ConnectorStatus> connectors;
  std::vector<client::TopicInfo> topics;
  std::uint64_t log_warnings = 0;  // since the start
  client::StorageRoom storage{};
};

// Text exposition format 0.0.4. Each family has its HELP and TYPE once and its samples together; counters end in _total.
// docs/reference/metrics.md lists every family. Pure.
[[nodiscard]] std::string expose(const Snapshot& snapshot);

inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace sluice::metrics
