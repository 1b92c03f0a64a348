// SPDX-License-Identifier: Apache-2.0
#include <sluice/context.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>

#include <sluice/record.hpp>

#include "thunk.hpp"

namespace sluice {

bool Context::log_enabled(LogLevel level) const {
  return host_->log_enabled(host_->host_data, static_cast<std::int32_t>(level)) != 0;
}

void Context::log(LogLevel level, std::string_view message, const std::source_location& where) const {
  host_->log(host_->host_data, static_cast<std::int32_t>(level), where.file_name(), where.line(), abi_text(message));
}

Counter Context::counter(std::string_view name, std::string_view help) const {
  return {*host_, host_->metric(host_->host_data, SLUICE_METRIC_COUNTER, abi_text(name), abi_text(help))};
}

Gauge Context::gauge(std::string_view name, std::string_view help) const {
  return {*host_, host_->metric(host_->host_data, SLUICE_METRIC_GAUGE, abi_text(name), abi_text(help))};
}

void Context::retrying(std::uint32_t attempt, Duration wait, const Outcome& error) const {
  const sluice_outcome abi = detail::to_abi(error);
  host_->retrying(host_->host_data, attempt, static_cast<std::uint64_t>(std::max(wait, Duration{0}).count()), &abi);
}

void Context::wait_until_ns(std::uint64_t until_ns) const {
  throw_if_cancelled();
  const std::uint64_t now = monotonic_ns();
  if (until_ns <= now) return;
  // Far enough for every wait, near enough not to overflow the clock.
  constexpr std::uint64_t kLongestWaitNs = std::numeric_limits<std::int64_t>::max() / 4;
  const std::chrono::nanoseconds wait(static_cast<std::int64_t>(std::min(until_ns - now, kLongestWaitNs)));
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, stop(), wait, [] { return false; });
  throw_if_cancelled();
}

}  // namespace sluice
