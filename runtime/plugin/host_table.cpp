// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/host_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <sluice/abi/version.h>

#include "runtime/base/text.hpp"

namespace sluice::plugin {

namespace {

constexpr std::size_t kLogFileBytesMax = 256;

// An unknown level of a newer plugin is shown rather than lost.
LogLevel log_level(std::int32_t level) {
  return level >= SLUICE_LOG_TRACE && level <= SLUICE_LOG_ERROR ? static_cast<LogLevel>(level) : LogLevel::kWarn;
}

bool is_metric_name(std::string_view name) {
  if (name.empty() || name.size() > kPluginMetricNameBytesMax || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

// Every function is noexcept: nothing may unwind through the plugin's frames.
struct HostTable::Callbacks {
  static HostTable& of(void* host_data) { return *static_cast<HostTable*>(host_data); }

  static std::int32_t log_enabled(void* host_data, std::int32_t level) noexcept {
    HostServices* services = of(host_data).services();
    return services != nullptr && services->log_enabled(log_level(level)) ? 1 : 0;
  }
  static void log(void* host_data, std::int32_t level, const char* file, std::uint32_t line, sluice_text message) noexcept {
    HostTable& host = of(host_data);
    HostServices* services = host.services();
    if (services == nullptr || !services->log_enabled(log_level(level))) return;
    const std::string from = file == nullptr ? std::string() : clean_text(file, kLogFileBytesMax);
    const std::string_view raw = read_text(message).value_or("(a log message that has a length but no bytes)");
    services->log(log_level(level), from, line, clean_text(raw, kLogMessageBytesMax, host.secrets()));
  }
  static std::uint32_t metric(void* host_data, std::int32_t kind, sluice_text name, sluice_text) noexcept {
    return of(host_data).register_metric(kind, read_text(name).value_or(""));
  }
  static void counter_add(void* host_data, std::uint32_t handle, std::uint64_t delta) noexcept {
    Metric* metric = of(host_data).metric_at(handle);
    if (metric != nullptr && metric->kind == SLUICE_METRIC_COUNTER) metric->counter.fetch_add(delta, std::memory_order_relaxed);
  }
  static void gauge_set(void* host_data, std::uint32_t handle, double value) noexcept {
    if (!std::isfinite(value)) return;  // no JSON could carry it
    Metric* metric = of(host_data).metric_at(handle);
    if (metric != nullptr && metric->kind == SLUICE_METRIC_GAUGE) metric->gauge.store(value, std::memory_order_relaxed);
  }
  static void wake(void* host_data) noexcept {
    if (HostServices* services = of(host_data).services()) services->wake();
  }
  static void retrying(void* host_data, std::uint32_t attempt, std::uint64_t wait_ms, const sluice_outcome* error) noexcept {
    HostTable& host = of(host_data);
    constexpr auto kWaitMsMax = static_cast<std::uint64_t>(kRetryAfterMax.count());
    const auto wait = std::chrono::milliseconds(static_cast<std::int64_t>(std::min(wait_ms, kWaitMsMax)));
    if (HostServices* services = host.services()) services->retrying(attempt, wait, read_outcome(error, host.secrets()));
  }
  static std::uint64_t monotonic_ns(void* host_data) noexcept {
    return static_cast<std::uint64_t>(of(host_data).clock().monotonic().count());
  }
  static std::int64_t wall_us(void* host_data) noexcept { return of(host_data).clock().wall().value(); }
  static std::uint64_t random(void* host_data) noexcept { return of(host_data).options_.random->next(); }
  static const void* get_extension(void*, const char*) noexcept { return nullptr; }
};

HostTable::HostTable(Options options) : options_(std::move(options)), metrics_(std::make_unique<Metric[]>(kPluginMetricsMax)) {
  table_.struct_size = sizeof table_;
  table_.abi_minor = SLUICE_ABI_MINOR;
  table_.host_data = this;
  table_.name = "sluice";
  table_.version = SLUICE_VERSION_TEXT;
  table_.build_id = SLUICE_ABI_BUILD_ID;
  table_.connector_key = {options_.connector_key.data(), options_.connector_key.size()};
  table_.log_enabled = &Callbacks::log_enabled;
  table_.log = &Callbacks::log;
  table_.metric = &Callbacks::metric;
  table_.counter_add = &Callbacks::counter_add;
  table_.gauge_set = &Callbacks::gauge_set;
  table_.wake = &Callbacks::wake;
  table_.retrying = &Callbacks::retrying;
  table_.monotonic_ns = &Callbacks::monotonic_ns;
  table_.wall_us = &Callbacks::wall_us;
  table_.random = &Callbacks::random;
  table_.get_extension = &Callbacks::get_extension;
}

std::uint32_t HostTable::register_metric(std::int32_t kind, std::string_view name) {
  if (!is_metric_name(name) || (kind != SLUICE_METRIC_COUNTER && kind != SLUICE_METRIC_GAUGE)) return 0;
  const std::lock_guard lock(metrics_mutex_);
  const std::size_t count = metric_count_.load();
  for (std::size_t i = 0; i < count; ++i) {
    if (metrics_[i].name == name) return metrics_[i].kind == kind ? static_cast<std::uint32_t>(i + 1) : 0;
  }
  if (count == kPluginMetricsMax) return 0;
  metrics_[count].name = name;
  metrics_[count].kind = kind;
  metric_count_.store(count + 1, std::memory_order_release);
  return static_cast<std::uint32_t>(count + 1);
}

HostTable::Metric* HostTable::metric_at(std::uint32_t handle) {
  return handle == 0 || handle > metric_count_.load(std::memory_order_acquire) ? nullptr : &metrics_[handle - 1];
}

std::vector<HostTable::MetricSample> HostTable::samples() const {
  std::vector<MetricSample> out;
  const std::size_t count = metric_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const Metric& metric = metrics_[i];
    const bool counter = metric.kind == SLUICE_METRIC_COUNTER;
    out.push_back({metric.name, metric.kind, counter ? metric.counter.load() : std::bit_cast<std::uint64_t>(metric.gauge.load())});
  }
  return out;
}

std::vector<std::pair<std::string, double>> HostTable::metrics() const {
  std::vector<std::pair<std::string, double>> out;
  for (const MetricSample& sample : samples()) {
    const bool counter = sample.kind == SLUICE_METRIC_COUNTER;
    out.emplace_back(sample.name, counter ? static_cast<double>(sample.value) : std::bit_cast<double>(sample.value));
  }
  return out;
}

bool host_has_extension(std::string_view) {
  return false;
}

}  // namespace sluice::plugin
