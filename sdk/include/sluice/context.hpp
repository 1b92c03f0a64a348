// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <source_location>
#include <stop_token>
#include <string_view>

#include <sluice/abi/call.h>
#include <sluice/abi/host.h>
#include <sluice/outcome.hpp>

namespace sluice {

enum class LogLevel : std::int32_t {
  kTrace = SLUICE_LOG_TRACE,
  kDebug = SLUICE_LOG_DEBUG,
  kInfo = SLUICE_LOG_INFO,
  kWarn = SLUICE_LOG_WARN,
  kError = SLUICE_LOG_ERROR,
};

// A number that only grows. Copyable; valid as long as its Context. [any thread]
class Counter {
 public:
  Counter(const sluice_host& host, std::uint32_t metric) : host_(&host), metric_(metric) {}
  void add(std::uint64_t delta = 1) const { host_->counter_add(host_->host_data, metric_, delta); }

 private:
  const sluice_host* host_;
  std::uint32_t metric_;
};

// A number that goes up and down. Copyable; valid as long as its Context. [any thread]
class Gauge {
 public:
  Gauge(const sluice_host& host, std::uint32_t metric) : host_(&host), metric_(metric) {}
  void set(double value) const { host_->gauge_set(host_->host_data, metric_, value); }

 private:
  const sluice_host* host_;
  std::uint32_t metric_;
};

// What one connector instance may ask of its host. Made by the SDK before the connector and outlives it; passed by reference. Thread-safe,
// except for what is marked [worker], which belongs to the thread that runs the current call.
class Context {
 public:
  explicit Context(const sluice_host& host) : host_(&host) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] std::string_view connector_key() const { return {host_->connector_key.ptr, host_->connector_key.len}; }

  [[nodiscard]] bool log_enabled(LogLevel level) const;
  void log(LogLevel level, std::string_view message, const std::source_location& where = std::source_location::current()) const;

  // The name is a constant of the connector: [a-z_][a-z0-9_]*. The host prefixes it and adds the connector's key as a label.
  [[nodiscard]] Counter counter(std::string_view name, std::string_view help) const;
  [[nodiscard]] Gauge gauge(std::string_view name, std::string_view help) const;

  // Sources: there is something to poll.
  void wake() const { host_->wake(host_->host_data); }
  // [worker] Shown in the connector's status while it waits on its own.
  void retrying(std::uint32_t attempt, Duration wait, const Outcome& error) const;

  [[nodiscard]] std::uint64_t monotonic_ns() const { return host_->monotonic_ns(host_->host_data); }
  [[nodiscard]] std::int64_t wall_us() const { return host_->wall_us(host_->host_data); }
  [[nodiscard]] std::uint64_t random() const { return host_->random(host_->host_data); }

  // Set once by the host's cancel and never again reset: everything that waits must end. std::stop_callback reaches what waits elsewhere.
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }
  [[nodiscard]] bool cancelled() const { return stop_.stop_requested(); }
  void throw_if_cancelled() const {
    if (cancelled()) throw CancelledError();
  }
  // Waits on the host's clock; CancelledError if cancelled before or meanwhile.
  void wait_until_ns(std::uint64_t monotonic_ns) const;

  // [worker] The current call's deadline on monotonic_ns, and which attempt it is, from 1.
  [[nodiscard]] std::uint64_t deadline_ns() const { return call_.deadline_ns; }
  [[nodiscard]] std::uint32_t attempt() const { return call_.attempt; }

  [[nodiscard]] const sluice_host& host() const { return *host_; }
  // For the SDK's own thunks and for tests.
  void request_stop() noexcept { stop_.request_stop(); }
  void begin_call(const sluice_call& call) { call_ = call; }

 private:
  const sluice_host* host_;
  std::stop_source stop_;
  sluice_call call_{sizeof(sluice_call), 1, SLUICE_NO_DEADLINE};
};

}  // namespace sluice
