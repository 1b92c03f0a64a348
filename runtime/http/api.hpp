// SPDX-License-Identifier: Apache-2.0
// The routes of the daemon. docs/reference/http.md is the specification; each api_*.cpp holds the handlers of one noun.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "core/client/client.hpp"
#include "runtime/http/producers.hpp"
#include "runtime/http/router.hpp"
#include "runtime/pipeline/supervisor.hpp"

namespace sluice::http {

inline constexpr std::uint64_t kBodyBytesMaxRecords = 16ULL << 20;  // of a produce request
inline constexpr std::uint64_t kConsumeRecordsMax = 10'000;
inline constexpr std::uint64_t kConsumeBytesMax = 8ULL << 20;
inline constexpr std::uint64_t kConsumeWaitMaxMs = 30'000;
inline constexpr std::uint64_t kDeadLettersMax = 1000;

// What handlers work on. Owned by the daemon, which stops the server before any of it goes; thread-safe.
struct Api {
  client::Client& client;
  pipeline::Supervisor& supervisor;
  std::string version;
  const Clock& clock;
  Random& random;
  std::atomic<bool> started = false;              // the connectors have been handed to the supervisor
  std::atomic<std::uint32_t> next_partition = 0;  // of produced records that name none and have no key
  Producers producers{client};
};

// http.not_ready before: a connector that is about to start would be said not to exist.
[[nodiscard]] Result<void> check_started(const Api& api);

[[nodiscard]] Router make_router(Api& api, const std::vector<std::string>& allowed_hosts);

void add_health_routes(Router& router, Api& api);
void add_topic_routes(Router& router, Api& api);
void add_record_routes(Router& router, Api& api);
void add_connector_routes(Router& router, Api& api);
void add_dead_letter_routes(Router& router, Api& api);

}  // namespace sluice::http
