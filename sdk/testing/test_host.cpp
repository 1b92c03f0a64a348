// SPDX-License-Identifier: Apache-2.0
#include <sluice/testing/test_host.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>

#include <sluice/abi/version.h>
#include <sluice/record.hpp>

namespace sluice::testing {
namespace {

constexpr std::int64_t kManualWallStartUs = 1'700'000'000'000'000;

bool is_broken(sluice_text text) {
  return text.ptr == nullptr && text.len != 0;
}

}  // namespace

TestHost::TestHost(std::string connector_key) : key_(std::move(connector_key)) {
  std::signal(SIGPIPE, SIG_IGN);
  fill_table();
}

void TestHost::fill_table() {
  table_.struct_size = sizeof table_;
  table_.abi_minor = SLUICE_ABI_MINOR;
  table_.host_data = this;
  table_.name = "test host";
  table_.version = "0";
  table_.build_id = SLUICE_ABI_BUILD_ID;
  table_.connector_key = abi_text(key_);
  table_.log_enabled = [](void*, std::int32_t) { return std::int32_t{1}; };
  table_.log = [](void* host_data, std::int32_t level, const char* file, std::uint32_t, sluice_text message) {
    TestHost& host = self(host_data);
    if (level < SLUICE_LOG_TRACE || level > SLUICE_LOG_ERROR) return host.note_violation("log: level " + std::to_string(level));
    if (file == nullptr || is_broken(message)) return host.note_violation("log: a null pointer");
    const std::scoped_lock lock(host.mutex_);
    host.logs_.push_back({static_cast<LogLevel>(level), std::string(view(message))});
  };
  table_.metric = [](void* host_data, std::int32_t kind, sluice_text name, sluice_text) {
    return self(host_data).metric_handle(kind, view(name));
  };
  table_.counter_add = [](void* host_data, std::uint32_t handle, std::uint64_t delta) {
    self(host_data).change_metric(handle, SLUICE_METRIC_COUNTER, static_cast<double>(delta));
  };
  table_.gauge_set = [](void* host_data, std::uint32_t handle, double value) {
    self(host_data).change_metric(handle, SLUICE_METRIC_GAUGE, value);
  };
  table_.wake = [](void* host_data) { ++self(host_data).wakes_; };
  table_.retrying = [](void* host_data, std::uint32_t attempt, std::uint64_t wait_ms, const sluice_outcome* error) {
    TestHost& host = self(host_data);
    Outcome outcome = checked_outcome(host, error);
    const std::scoped_lock lock(host.mutex_);
    host.retries_.push_back({attempt, Duration(static_cast<std::int64_t>(wait_ms)), std::move(outcome)});
  };
  table_.monotonic_ns = [](void* host_data) { return self(host_data).monotonic_ns(); };
  table_.wall_us = [](void* host_data) {
    TestHost& host = self(host_data);
    if (host.manual_clock_) return kManualWallStartUs + static_cast<std::int64_t>(host.manual_ns_ / 1000);
    return std::int64_t{std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
  };
  // SplitMix64: repeatable, which is what a test wants.
  table_.random = [](void* host_data) {
    std::uint64_t bits = self(host_data).random_.fetch_add(0x9E3779B97F4A7C15ULL);
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
    return bits ^ (bits >> 31);
  };
  table_.get_extension = [](void*, const char*) -> const void* { return nullptr; };
}

void TestHost::use_manual_clock() {
  manual_clock_ = true;
}

std::uint64_t TestHost::monotonic_ns() const {
  if (manual_clock_) return manual_ns_;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::vector<LogLine> TestHost::logs() const {
  const std::scoped_lock lock(mutex_);
  return logs_;
}

std::vector<RetryNote> TestHost::retries() const {
  const std::scoped_lock lock(mutex_);
  return retries_;
}

std::optional<double> TestHost::metric(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(metrics_.begin(), metrics_.end(), [name](const Metric& metric) { return metric.name == name; });
  return found == metrics_.end() ? std::nullopt : std::optional(found->value);
}

std::uint32_t TestHost::metric_handle(std::int32_t kind, std::string_view name) {
  const bool name_ok =
      !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos && !(name[0] >= '0' && name[0] <= '9');
  const bool kind_ok = kind == SLUICE_METRIC_COUNTER || kind == SLUICE_METRIC_GAUGE;
  if (!name_ok || !kind_ok) {
    note_violation("metric: bad name or kind of \"" + std::string(name) + '"');
    return 0;
  }
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (metrics_[i].name == name) return metrics_[i].kind == kind ? static_cast<std::uint32_t>(i + 1) : 0;
  }
  metrics_.push_back({std::string(name), kind, 0});
  return static_cast<std::uint32_t>(metrics_.size());
}

void TestHost::change_metric(std::uint32_t handle, std::int32_t kind, double value) {
  if (handle == 0) return;
  const std::unique_lock lock(mutex_);
  if (handle > metrics_.size() || metrics_[handle - 1].kind != kind) {
    violation_ = "a metric handle that the host never gave for this kind: " + std::to_string(handle);
    return;
  }
  double& stored = metrics_[handle - 1].value;
  stored = kind == SLUICE_METRIC_COUNTER ? stored + value : value;
}

void TestHost::note_violation(std::string text) {
  const std::scoped_lock lock(mutex_);
  if (!violation_) violation_ = std::move(text);
}

void TestHost::throw_if_violated() {
  std::optional<std::string> violation;
  {
    const std::scoped_lock lock(mutex_);
    violation.swap(violation_);
  }
  if (violation) throw ContractViolation(*violation);
}

Outcome checked_outcome(TestHost& host, const sluice_outcome* outcome) {
  if (outcome == nullptr) {
    host.note_violation("a null outcome");
    return {};
  }
  if (outcome->struct_size < sizeof(sluice_outcome)) host.note_violation("an outcome with a wrong struct_size");
  if (outcome->outcome_class < SLUICE_CLASS_TRANSIENT || outcome->outcome_class > SLUICE_CLASS_FATAL) {
    host.note_violation("an outcome of unknown class " + std::to_string(outcome->outcome_class));
  }
  if (outcome->scope != SLUICE_SCOPE_RECORD && outcome->scope != SLUICE_SCOPE_CONNECTOR) {
    host.note_violation("an outcome of unknown scope " + std::to_string(outcome->scope));
  }
  for (const sluice_text& text : {outcome->code, outcome->text, outcome->hint, outcome->pointer}) {
    if (!is_broken(text)) continue;
    host.note_violation("an outcome with a null text that has a length");
    return {};
  }
  if (outcome->code.len == 0 || outcome->text.len == 0) host.note_violation("an outcome without code or text");
  return {.outcome_class = static_cast<OutcomeClass>(outcome->outcome_class),
          .scope = static_cast<OutcomeScope>(outcome->scope),
          .code = std::string(view(outcome->code)),
          .text = std::string(view(outcome->text)),
          .hint = std::string(view(outcome->hint)),
          .pointer = std::string(view(outcome->pointer)),
          .http_status = outcome->http_status,
          .retry_after = Duration(outcome->retry_after_ms)};
}

CallOrder::Call::Call(CallOrder& order, State needed, const char* name) : order_(order) {
  if (order.running_.exchange(true)) throw ContractViolation(std::string(name) + " while another call of the instance runs");
  if (order.state_ == needed) return;
  order.running_ = false;
  throw ContractViolation(std::string(name) + (needed == State::kOpen ? " of an instance that is not open" : " of an open instance"));
}

std::optional<Outcome> checked_status(TestHost& host, const char* call, sluice_status status, std::optional<Outcome> outcome,
                                      bool must_be_cancelled) {
  host.throw_if_violated();
  const std::string name(call);
  if (status != SLUICE_OK && status != SLUICE_FAILED)
    throw ContractViolation(name + " returned the unknown status " + std::to_string(status));
  if (status == SLUICE_OK && outcome) throw ContractViolation(name + " returned SLUICE_OK after it had failed: " + outcome->text);
  if (status == SLUICE_FAILED && !outcome) throw ContractViolation(name + " returned SLUICE_FAILED without an outcome");
  if (must_be_cancelled && (!outcome || outcome->outcome_class != OutcomeClass::kCancelled)) {
    throw ContractViolation(name + " after cancel did not return the class cancelled");
  }
  return outcome;
}

OutcomeCollector::OutcomeCollector(TestHost& host) : host_(host) {
  abi_.struct_size = sizeof abi_;
  abi_.host_data = this;
  abi_.fail = [](void* host_data, const sluice_outcome* outcome) {
    auto& collector = *static_cast<OutcomeCollector*>(host_data);
    collector.outcome_ = checked_outcome(collector.host_, outcome);
  };
}

}  // namespace sluice::testing
