// SPDX-License-Identifier: Apache-2.0
// The tables: every key of sluice.toml and of a connector file. The keys of [plugin_config] come from each plugin (json_schema.hpp).
#pragma once

#include "runtime/config/schema.hpp"

namespace sluice::config {

inline constexpr std::int64_t kSecondMs = 1000;
inline constexpr std::int64_t kMinuteMs = 60 * kSecondMs;
inline constexpr std::int64_t kHourMs = 60 * kMinuteMs;

[[nodiscard]] const Schema& daemon_schema();
[[nodiscard]] const Schema& connector_schema();

// Parts that sluice.toml shares with connector files under [defaults].
[[nodiscard]] Schema failure_schema();
[[nodiscard]] Schema batching_schema();
[[nodiscard]] Schema restart_schema();
[[nodiscard]] std::vector<Schema> topic_members();

}  // namespace sluice::config
