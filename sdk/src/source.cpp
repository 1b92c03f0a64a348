// SPDX-License-Identifier: Apache-2.0
#include <sluice/source.hpp>

#include <memory>
#include <string>

#include <sluice/plugin.hpp>

#include "thunk.hpp"

namespace sluice {

AppendResult SourceWriter::append(const SourceRecord& record, Route route) {
  sluice_record abi{};
  abi.struct_size = sizeof abi;
  unsigned flags = 0;
  if (record.key) flags |= SLUICE_RECORD_HAS_KEY;
  if (record.payload) flags |= SLUICE_RECORD_HAS_PAYLOAD;
  abi.flags = static_cast<std::uint16_t>(flags);
  abi.format = static_cast<std::uint16_t>(record.format);
  abi.schema_id = record.schema_id;
  abi.header_count = static_cast<std::uint32_t>(record.headers.size());
  abi.id_low = record.id_low;
  abi.id_high = record.id_high;
  if (record.key) abi.key = abi_bytes(*record.key);
  if (record.payload) abi.payload = abi_bytes(*record.payload);
  abi.headers = reinterpret_cast<const sluice_header*>(record.headers.data());
  abi.origin_timestamp_us = record.origin_timestamp_us;
  switch (abi_.append(abi_.host_data, &abi, route.output, route.partition)) {
    case SLUICE_APPEND_OK:
      ++handed_out_;
      return AppendResult::kOk;
    case SLUICE_APPEND_FULL:
      return AppendResult::kFull;
    case SLUICE_APPEND_TOO_LARGE:
      ++handed_out_;
      return AppendResult::kTooLarge;
    default:
      throw FatalError("source.invalid_record", "the host refused a record for output " + std::to_string(route.output) + ", partition " +
                                                    std::to_string(route.partition) + ": there is no such output or partition");
  }
}

void SourceWriter::set_state(std::string_view state) {
  if (abi_.set_state(abi_.host_data, abi_bytes(state)) == SLUICE_OK) return;
  throw FatalError("source.state_too_large", "the source's state of " + std::to_string(state.size()) + " bytes is above state.max_bytes");
}

namespace detail {
namespace {

// Owned by the host through its table; `self` of every thunk.
struct SourceInstance {
  sluice_source table{};
  const Registration* registration;
  Context context;
  std::unique_ptr<Source> source;  // from open to close

  SourceInstance(const Registration& from, const sluice_host& host) : registration(&from), context(host) {}

  [[nodiscard]] Source& opened() const {
    if (source == nullptr) throw FatalError("host.contract", "the host used a source that is not open");
    return *source;
  }
};

SourceInstance& source_instance(void* self) {
  return *static_cast<SourceInstance*>(self);
}

sluice_status source_migrate_state(void* self, const sluice_call* call, const sluice_source_state* from, const sluice_bytes_writer* out,
                                   const sluice_outcome_writer* failure) noexcept {
  SourceInstance& instance = source_instance(self);
  const auto body = [&] {
    const Registration& registration = *instance.registration;
    if (registration.migrate_state == nullptr) {
      throw FatalError("source.state_version", std::string(registration.descriptor.id) + " cannot read a state of version " +
                                                   std::to_string(from->version) + ", it writes version " +
                                                   std::to_string(registration.descriptor.state_version));
    }
    const std::string migrated = registration.migrate_state(from->version, view(from->bytes));
    if (out->write(out->host_data, migrated.data(), migrated.size()) != SLUICE_OK) {
      throw FatalError("source.state_too_large",
                       "the migrated state of " + std::to_string(migrated.size()) + " bytes is above state.max_bytes");
    }
  };
  return guarded(instance.context, *call, body, report_to(failure));
}

sluice_status source_open(void* self, const sluice_call* call, sluice_text config_json, const sluice_source_state* state,
                          const sluice_outcome_writer* failure) noexcept {
  SourceInstance& instance = source_instance(self);
  const auto body = [&] {
    if (instance.source != nullptr) throw FatalError("host.contract", "the host opened a source twice");
    auto source = instance.registration->make_source(view(config_json), instance.context);
    source->open(state == nullptr ? std::nullopt : std::optional(view(state->bytes)));
    instance.source = std::move(source);
  };
  return guarded(instance.context, *call, body, report_to(failure));
}

sluice_status source_poll(void* self, const sluice_call* call, const sluice_poll_request* abi,
                          const sluice_source_writer* abi_writer) noexcept {
  SourceInstance& instance = source_instance(self);
  const PollRequest request{
      .max_records = abi->max_records, .max_bytes = abi->max_bytes, .wait_until_ns = abi->wait_until_ns, .batch_id = abi->batch_id};
  SourceWriter writer(*abi_writer);
  const auto report = [&](const sluice_outcome& outcome) noexcept { abi_writer->fail(abi_writer->host_data, &outcome); };
  return guarded(instance.context, *call, [&] { instance.opened().poll(request, writer); }, report);
}

sluice_status source_on_result(void* self, const sluice_call* call, std::uint64_t batch_id, std::int32_t result,
                               const sluice_outcome_writer* failure) noexcept {
  SourceInstance& instance = source_instance(self);
  // Anything but an acknowledgement must not lead to destructive work.
  const BatchResult what = result == SLUICE_BATCH_ACKED ? BatchResult::kAcked : BatchResult::kNacked;
  return guarded(instance.context, *call, [&] { instance.opened().on_result(batch_id, what); }, report_to(failure));
}

sluice_status source_pause(void* self, const sluice_call* call, const sluice_outcome_writer* failure) noexcept {
  SourceInstance& instance = source_instance(self);
  return guarded(instance.context, *call, [&] { instance.opened().pause(); }, report_to(failure));
}

sluice_status source_resume(void* self, const sluice_call* call, const sluice_outcome_writer* failure) noexcept {
  SourceInstance& instance = source_instance(self);
  return guarded(instance.context, *call, [&] { instance.opened().resume(); }, report_to(failure));
}

sluice_status source_close(void* self, const sluice_call* call, const sluice_outcome_writer* failure) noexcept {
  SourceInstance& instance = source_instance(self);
  const std::unique_ptr<Source> source = std::move(instance.source);
  try {
    instance.context.begin_call(*call);
    if (source != nullptr) source->close();
    return SLUICE_OK;
  } catch (...) {
    report_thrown(instance.context.cancelled(), report_to(failure));
    return SLUICE_FAILED;
  }
}

void source_destroy(void* self) noexcept {
  delete &source_instance(self);
}

void source_cancel(void* self) noexcept {
  source_instance(self).context.request_stop();
}

const void* source_get_extension(void* /*self*/, const char* /*id*/) noexcept {
  return nullptr;
}

}  // namespace

const sluice_source* create_source(const Registration& registration, const sluice_host& host) {
  auto instance = std::make_unique<SourceInstance>(registration, host);
  sluice_source& table = instance->table;
  table.struct_size = sizeof table;
  table.self = instance.get();
  table.migrate_state = source_migrate_state;
  table.open = source_open;
  table.poll = source_poll;
  table.on_result = source_on_result;
  table.pause = source_pause;
  table.resume = source_resume;
  table.close = source_close;
  table.destroy = source_destroy;
  table.cancel = source_cancel;
  table.get_extension = source_get_extension;
  return &instance.release()->table;
}

}  // namespace detail
}  // namespace sluice
