// SPDX-License-Identifier: Apache-2.0
// The functions behind sluice_entry_v1, over the registrations that SLUICE_PLUGIN defines.
#include <string>

#include <sluice/plugin.hpp>

#include "thunk.hpp"

namespace sluice::detail {
namespace {

const Registration* registration_at(std::uint32_t index) {
  const auto all = registrations();
  return index < all.size() ? &all[index] : nullptr;
}

const sluice_descriptor* factory_descriptor(std::uint32_t index) noexcept {
  const Registration* registration = registration_at(index);
  return registration == nullptr ? nullptr : &registration->descriptor;
}

sluice_status factory_config_schema(std::uint32_t index, const sluice_bytes_writer* out) noexcept {
  try {
    const Registration* registration = registration_at(index);
    if (registration == nullptr) return SLUICE_FAILED;
    const std::string schema = registration->schema();
    return out->write(out->host_data, schema.data(), schema.size());
  } catch (...) {
    return SLUICE_FAILED;
  }
}

// null with a reason, or what `make` made.
template <typename Make>
auto created(const sluice_outcome_writer* failure, Make&& make) noexcept -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    report_thrown(false, report_to(failure));
    return nullptr;
  }
}

const Registration& registration_of_kind(std::uint32_t index, std::int32_t kind) {
  const Registration* registration = registration_at(index);
  if (registration == nullptr) throw FatalError("host.contract", "there is no connector " + std::to_string(index));
  if (registration->descriptor.kind != kind) {
    throw FatalError("host.contract", std::string(registration->descriptor.id) + " is a " + (kind == SLUICE_KIND_SINK ? "source" : "sink"));
  }
  return *registration;
}

const sluice_sink* factory_create_sink(std::uint32_t index, const sluice_host* host, const sluice_outcome_writer* failure) noexcept {
  return created(failure, [&] { return create_sink(registration_of_kind(index, SLUICE_KIND_SINK), *host); });
}

const sluice_source* factory_create_source(std::uint32_t index, const sluice_host* host, const sluice_outcome_writer* failure) noexcept {
  return created(failure, [&] { return create_source(registration_of_kind(index, SLUICE_KIND_SOURCE), *host); });
}

}  // namespace

sluice_status entry_init(const sluice_host* /*host*/, const sluice_outcome_writer* failure) noexcept {
  // Makes the registrations now, where a failure has somebody to be told to.
  try {
    if (!registrations().empty()) return SLUICE_OK;
  } catch (...) {
    report_thrown(false, report_to(failure));
    return SLUICE_FAILED;
  }
  const sluice_outcome none = plain_outcome(OutcomeClass::kFatal, "plugin.empty", "the plugin holds no connector");
  failure->fail(failure->host_data, &none);
  return SLUICE_FAILED;
}

void entry_deinit() noexcept {}

const void* entry_get_factory(const char* factory_id) noexcept {
  static const sluice_connector_factory factory = {sizeof(sluice_connector_factory),
                                                   static_cast<std::uint32_t>(registrations().size()),
                                                   factory_descriptor,
                                                   factory_config_schema,
                                                   factory_create_sink,
                                                   factory_create_source};
  return std::string_view(factory_id) == SLUICE_CONNECTOR_FACTORY_ID ? &factory : nullptr;
}

}  // namespace sluice::detail
