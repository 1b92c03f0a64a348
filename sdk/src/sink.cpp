// SPDX-License-Identifier: Apache-2.0
#include <sluice/sink.hpp>

#include <memory>
#include <string>
#include <vector>

#include <sluice/plugin.hpp>

#include "thunk.hpp"

namespace sluice {

void WriteResult::accept_until(std::uint32_t count) {
  const std::uint32_t size = batch_.size();
  if (count < accepted_ || count > size) {
    throw FatalError("plugin.contract", "the sink accepted " + std::to_string(count) + " records after " + std::to_string(accepted_) +
                                            ", of a batch of " + std::to_string(size));
  }
  accepted_ = count;
  if (count == 0) return;
  abi_.accepted_next = count == size ? batch_[size - 1].offset() + 1 : batch_[count].offset();
}

void WriteResult::fail(std::uint32_t index, const Outcome& outcome) {
  if (index < next_failed_ || index >= batch_.size()) {
    throw FatalError("plugin.contract", "the sink failed record " + std::to_string(index) + " after record " +
                                            std::to_string(next_failed_) + ", of a batch of " + std::to_string(batch_.size()));
  }
  next_failed_ = index + 1;
  const sluice_outcome abi = detail::to_abi(outcome);
  abi_.record_failed(abi_.host_data, index, &abi);
}

bool WriteResult::fail_next(const sluice_outcome& outcome) noexcept {
  // A record error is only about one record if it is clear which: the first one neither counted nor failed, with all before it counted.
  if (accepted_ < batch_.size() && accepted_ >= next_failed_) {
    abi_.record_failed(abi_.host_data, accepted_, &outcome);
    return true;
  }
  sluice_outcome late = outcome;
  late.outcome_class = static_cast<std::uint16_t>(OutcomeClass::kFatal);
  late.scope = static_cast<std::uint16_t>(OutcomeScope::kConnector);
  abi_.call_failed(abi_.host_data, &late);
  return false;
}

void Sink::assign(std::span<const Assignment> /*parts*/, std::span<std::uint64_t> /*resume_next*/) {}
void Sink::flush(FlushResult& /*result*/) {}
void Sink::revoke(std::span<const Assignment> /*parts*/) {}

namespace detail {
namespace {

// Owned by the host through its table; `self` of every thunk.
struct SinkInstance {
  sluice_sink table{};
  const Registration* registration;
  Context context;
  std::unique_ptr<Sink> sink;  // from open to close

  SinkInstance(const Registration& from, const sluice_host& host) : registration(&from), context(host) {}

  [[nodiscard]] Sink& opened() const {
    if (sink == nullptr) throw FatalError("host.contract", "the host used a sink that is not open");
    return *sink;
  }
};

SinkInstance& sink_instance(void* self) {
  return *static_cast<SinkInstance*>(self);
}

std::vector<Assignment> assignments(const sluice_assignment* const* parts, std::uint32_t count) {
  std::vector<Assignment> out;
  out.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) out.emplace_back(*parts[i]);
  return out;
}

sluice_status sink_open(void* self, const sluice_call* call, sluice_text config_json, const sluice_outcome_writer* failure) noexcept {
  SinkInstance& instance = sink_instance(self);
  const auto body = [&] {
    if (instance.sink != nullptr) throw FatalError("host.contract", "the host opened a sink twice");
    auto sink = instance.registration->make_sink(view(config_json), instance.context);
    sink->open();
    instance.sink = std::move(sink);
  };
  return guarded(instance.context, *call, body, report_to(failure));
}

sluice_status sink_assign(void* self, const sluice_call* call, const sluice_assignment* const* parts, std::uint32_t count,
                          std::uint64_t* resume_next, const sluice_outcome_writer* failure) noexcept {
  SinkInstance& instance = sink_instance(self);
  const auto body = [&] { instance.opened().assign(assignments(parts, count), {resume_next, count}); };
  return guarded(instance.context, *call, body, report_to(failure));
}

sluice_status sink_write(void* self, const sluice_call* call, const sluice_batch* abi_batch, sluice_write_result* abi_result) noexcept {
  SinkInstance& instance = sink_instance(self);
  const Batch batch(*abi_batch);
  WriteResult result(batch, *abi_result);
  bool record_failed = false;
  const auto report = [&](const sluice_outcome& outcome) noexcept {
    if (outcome.scope == SLUICE_SCOPE_RECORD) {
      record_failed = result.fail_next(outcome);
    } else {
      abi_result->call_failed(abi_result->host_data, &outcome);
    }
  };
  const sluice_status status = guarded(instance.context, *call, [&] { instance.opened().write(batch, result); }, report);
  return record_failed ? SLUICE_OK : status;
}

sluice_status sink_flush(void* self, const sluice_call* call, const sluice_flush_result* abi_result) noexcept {
  SinkInstance& instance = sink_instance(self);
  FlushResult result(*abi_result);
  const auto report = [&](const sluice_outcome& outcome) noexcept { abi_result->call_failed(abi_result->host_data, &outcome); };
  return guarded(instance.context, *call, [&] { instance.opened().flush(result); }, report);
}

sluice_status sink_revoke(void* self, const sluice_call* call, const sluice_assignment* const* parts, std::uint32_t count,
                          const sluice_outcome_writer* failure) noexcept {
  SinkInstance& instance = sink_instance(self);
  return guarded(instance.context, *call, [&] { instance.opened().revoke(assignments(parts, count)); }, report_to(failure));
}

sluice_status sink_close(void* self, const sluice_call* call, const sluice_outcome_writer* failure) noexcept {
  SinkInstance& instance = sink_instance(self);
  const std::unique_ptr<Sink> sink = std::move(instance.sink);
  try {
    instance.context.begin_call(*call);
    if (sink != nullptr) sink->close();
    return SLUICE_OK;
  } catch (...) {
    report_thrown(instance.context.cancelled(), report_to(failure));
    return SLUICE_FAILED;
  }
}

void sink_destroy(void* self) noexcept {
  delete &sink_instance(self);
}

void sink_cancel(void* self) noexcept {
  sink_instance(self).context.request_stop();
}

const void* sink_get_extension(void* /*self*/, const char* /*id*/) noexcept {
  return nullptr;
}

}  // namespace

const sluice_sink* create_sink(const Registration& registration, const sluice_host& host) {
  auto instance = std::make_unique<SinkInstance>(registration, host);
  sluice_sink& table = instance->table;
  table.struct_size = sizeof table;
  table.self = instance.get();
  table.open = sink_open;
  table.assign = sink_assign;
  table.write = sink_write;
  table.flush = sink_flush;
  table.revoke = sink_revoke;
  table.close = sink_close;
  table.destroy = sink_destroy;
  table.cancel = sink_cancel;
  table.get_extension = sink_get_extension;
  return &instance.release()->table;
}

}  // namespace detail
}  // namespace sluice
