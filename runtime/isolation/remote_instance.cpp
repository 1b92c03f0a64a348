// SPDX-License-Identifier: Apache-2.0
#include "runtime/isolation/remote_instance.hpp"

#include <bit>

#include "runtime/plugin/host_table.hpp"

namespace sluice::isolation {

std::unique_ptr<PluginProcess> RemoteInstance::create(const RemoteOptions& options, bool is_sink, std::uint32_t index,
                                                      const sluice_host& host, const sluice_outcome_writer* failure) {
  auto process = PluginProcess::start(options.process, host);
  if (!process) {
    plugin::Outcome outcome;
    outcome.outcome_class = plugin::OutcomeClass::kTransient;
    outcome.code = process.error().code();
    outcome.text = process.error().message();
    outcome.hint = process.error().explanation();
    const sluice_outcome abi = abi_outcome(outcome);
    failure->fail(failure->host_data, &abi);
    return nullptr;
  }
  std::int32_t level = SLUICE_LOG_TRACE;
  while (level < SLUICE_LOG_ERROR && host.log_enabled(host.host_data, level) == 0) ++level;
  RemoteInstance instance(*std::move(process), host);
  ByteWriter out = instance.begin();
  out.put(static_cast<std::uint8_t>(is_sink ? 1 : 0));
  out.put(index);
  put_text(out, host.connector_key);
  out.put(level);
  out.put(options.record_bytes_max);
  out.put(options.state_bytes_max);
  const sluice_call call{.struct_size = sizeof(sluice_call), .attempt = 1, .deadline_ns = SLUICE_NO_DEADLINE};
  if (instance.run(CallKind::kCreate, call, failure) != SLUICE_OK) return nullptr;
  return std::move(instance.process_);
}

bool RemoteInstance::take_metrics(ByteReader& in) {
  std::uint32_t count = 0;
  if (!get(in, count) || count > plugin::kPluginMetricsMax) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::int32_t kind = 0;
    sluice_text name{};
    std::uint64_t value = 0;
    if (!get(in, kind) || !get(in, name) || !get(in, value)) return false;
    // A copy: the child may write to its half at any time.
    const std::string key(name.ptr, name.len);
    auto known = metrics_.find(key);
    if (known == metrics_.end()) {
      if (metrics_.size() >= plugin::kPluginMetricsMax) continue;
      known = metrics_.emplace(key, Metric{host_.metric(host_.host_data, kind, {key.data(), key.size()}, {}), 0}).first;
    }
    Metric& metric = known->second;
    if (kind == SLUICE_METRIC_COUNTER) {
      if (value > metric.value) host_.counter_add(host_.host_data, metric.handle, value - metric.value);
    } else {
      host_.gauge_set(host_.host_data, metric.handle, std::bit_cast<double>(value));
    }
    metric.value = value;
  }
  return true;
}

}  // namespace sluice::isolation
