// SPDX-License-Identifier: Apache-2.0
// The host's side of the ABI: the table of services that a plugin calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/abi/host.h>

#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::plugin {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError };

// What the runtime does with a plugin's calls to its host. Implemented by the pipeline, shared with the instance: it lives as long as the
// plugin may call, which for an abandoned instance is for ever. Any thread, must not block, must not throw, must not call the instance.
class HostServices {
 public:
  virtual ~HostServices() = default;
  [[nodiscard]] virtual bool log_enabled(LogLevel level) = 0;
  // `message` is clean, cut and masked. `file` may be empty.
  virtual void log(LogLevel level, std::string_view file, std::uint32_t line, std::string_view message) = 0;
  // Sources: there is something to poll.
  virtual void wake() = 0;
  // The plugin waits by itself before it tries again.
  virtual void retrying(std::uint32_t attempt, std::chrono::milliseconds wait, const Outcome& error) = 0;
};

inline constexpr std::size_t kLogMessageBytesMax = 8192;
inline constexpr std::size_t kPluginMetricsMax = 256;  // per instance
inline constexpr std::size_t kPluginMetricNameBytesMax = 64;

// The table of one instance (or of a library's init, with an empty key and no services). Owns the plugin's metrics. At a fixed address
// until destroyed; table() may be called from any thread by the plugin.
class HostTable {
 public:
  struct Options {
    std::string connector_key;
    std::vector<std::string> secrets;
    std::shared_ptr<HostServices> services;  // null: logs, wake and retrying go nowhere
    Clock* clock = &system_clock();
    Random* random = &system_random();  // must be usable from any thread
  };
  explicit HostTable(Options options);
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  [[nodiscard]] const sluice_host* table() const { return &table_; }
  [[nodiscard]] const std::vector<std::string>& secrets() const { return options_.secrets; }
  [[nodiscard]] Clock& clock() const { return *options_.clock; }
  [[nodiscard]] const std::string& connector_key() const { return options_.connector_key; }

  // From now on the plugin's calls do nothing. For an instance that was abandoned: its late calls must not reach the runtime.
  void silence() { silent_.store(true, std::memory_order_release); }

  [[nodiscard]] std::vector<std::pair<std::string, double>> metrics() const;
  struct MetricSample {
    std::string_view name;  // as long as the table
    std::int32_t kind = 0;
    std::uint64_t value = 0;  // of a gauge: the bits of the double
  };
  // In order of registration.
  [[nodiscard]] std::vector<MetricSample> samples() const;

 private:
  struct Metric {
    std::string name;
    std::int32_t kind = 0;
    std::atomic<std::uint64_t> counter{0};
    std::atomic<double> gauge{0};
  };
  struct Callbacks;

  [[nodiscard]] HostServices* services() const { return silent_.load(std::memory_order_acquire) ? nullptr : options_.services.get(); }
  [[nodiscard]] std::uint32_t register_metric(std::int32_t kind, std::string_view name);
  [[nodiscard]] Metric* metric_at(std::uint32_t handle);

  Options options_;
  sluice_host table_{};
  std::atomic<bool> silent_{false};
  std::mutex metrics_mutex_;           // registration
  std::unique_ptr<Metric[]> metrics_;  // kPluginMetricsMax of them; the first metric_count_ are registered and keep name and kind for ever
  std::atomic<std::size_t> metric_count_{0};
};

// The extensions that this host offers to plugins, by id. Empty in this version.
[[nodiscard]] bool host_has_extension(std::string_view id);

}  // namespace sluice::plugin
