// SPDX-License-Identifier: Apache-2.0
// A sink and a source in this process whose calls are lambdas of the test, behind the real tables of the ABI.
#pragma once

#include <functional>

#include <sluice/abi/connector.h>

#include "runtime/plugin/sink_instance.hpp"
#include "runtime/plugin/source_instance.hpp"

namespace sluice::plugin {

struct ScriptedConnector {
  std::function<sluice_status(const sluice_batch&, sluice_write_result&)> on_write = [](const auto&, auto&) { return SLUICE_OK; };
  std::function<sluice_status(const sluice_flush_result&)> on_flush = [](const auto&) { return SLUICE_OK; };
  std::function<void(std::uint32_t count, std::uint64_t* resume_next)> on_assign = [](auto, auto*) {};
  std::function<sluice_status(const sluice_poll_request&, const sluice_source_writer&)> on_poll = [](const auto&, const auto&) {
    return SLUICE_OK;
  };
  std::function<sluice_status(const sluice_source_state&, const sluice_bytes_writer&)> on_migrate = [](const auto&, const auto&) {
    return SLUICE_OK;
  };
  std::function<sluice_status(const sluice_outcome_writer&)> on_open = [](const auto&) { return SLUICE_OK; };
  std::function<void()> on_create = [] {};
  std::function<void()> on_destroy = [] {};
  const sluice_host* host = nullptr;
  const sluice_assignment* assigned = nullptr;
  int destroyed = 0;
  std::uint64_t deadline_ns = 0;
  std::uint32_t attempt = 0;

  // Only one is alive at a time: the factory's functions carry no data.
  static inline ScriptedConnector* current = nullptr;
  ScriptedConnector() { current = this; }
  ScriptedConnector(const ScriptedConnector&) = delete;
  ScriptedConnector& operator=(const ScriptedConnector&) = delete;
  ~ScriptedConnector() { current = nullptr; }

  static ScriptedConnector& of(void* self) { return *static_cast<ScriptedConnector*>(self); }
  static sluice_status simple(void*, const sluice_call*, const sluice_outcome_writer*) { return SLUICE_OK; }
  static void cancel(void*) {}
  static void destroy(void* self) {
    ++of(self).destroyed;
    of(self).on_destroy();
  }
  static const void* extension(void*, const char*) { return nullptr; }

  [[nodiscard]] const sluice_sink* sink_table() {
    sink_ = {.struct_size = sizeof(sluice_sink),
             .reserved = 0,
             .self = this,
             .open =
                 [](void* self, const sluice_call* call, sluice_text, const sluice_outcome_writer* failure) {
                   of(self).deadline_ns = call->deadline_ns;
                   of(self).attempt = call->attempt;
                   return of(self).on_open(*failure);
                 },
             .assign = [](void* self, const sluice_call*, const sluice_assignment* const* parts, std::uint32_t count,
                          std::uint64_t* resume_next, const sluice_outcome_writer*) -> sluice_status {
               of(self).assigned = parts[0];
               of(self).on_assign(count, resume_next);
               return SLUICE_OK;
             },
             .write = [](void* self, const sluice_call*, const sluice_batch* batch,
                         sluice_write_result* result) { return of(self).on_write(*batch, *result); },
             .flush = [](void* self, const sluice_call*, const sluice_flush_result* result) { return of(self).on_flush(*result); },
             .revoke = [](void*, const sluice_call*, const sluice_assignment* const*, std::uint32_t,
                          const sluice_outcome_writer*) -> sluice_status { return SLUICE_OK; },
             .close = &simple,
             .destroy = &destroy,
             .cancel = &cancel,
             .get_extension = &extension};
    return &sink_;
  }
  [[nodiscard]] const sluice_source* source_table() {
    source_ = {.struct_size = sizeof(sluice_source),
               .reserved = 0,
               .self = this,
               .migrate_state = [](void* self, const sluice_call*, const sluice_source_state* from, const sluice_bytes_writer* out,
                                   const sluice_outcome_writer*) { return of(self).on_migrate(*from, *out); },
               .open = [](void* self, const sluice_call*, sluice_text, const sluice_source_state*,
                          const sluice_outcome_writer* failure) { return of(self).on_open(*failure); },
               .poll = [](void* self, const sluice_call*, const sluice_poll_request* request,
                          const sluice_source_writer* writer) { return of(self).on_poll(*request, *writer); },
               .on_result = [](void*, const sluice_call*, std::uint64_t, std::int32_t, const sluice_outcome_writer*) -> sluice_status {
                 return SLUICE_OK;
               },
               .pause = &simple,
               .resume = &simple,
               .close = &simple,
               .destroy = &destroy,
               .cancel = &cancel,
               .get_extension = &extension};
    return &source_;
  }
  [[nodiscard]] static const sluice_connector_factory& factory() {
    static const sluice_connector_factory kFactory{
        .struct_size = sizeof(sluice_connector_factory),
        .count = 2,
        .descriptor = [](std::uint32_t) -> const sluice_descriptor* { return nullptr; },
        .config_schema = [](std::uint32_t, const sluice_bytes_writer*) -> sluice_status { return SLUICE_FAILED; },
        .create_sink =
            [](std::uint32_t, const sluice_host* host, const sluice_outcome_writer*) {
              current->host = host;
              current->on_create();
              return current->sink_table();
            },
        .create_source =
            [](std::uint32_t, const sluice_host* host, const sluice_outcome_writer*) {
              current->host = host;
              current->on_create();
              return current->source_table();
            }};
    return kFactory;
  }

 private:
  sluice_sink sink_{};
  sluice_source source_{};
};

inline sluice_text abi_text(std::string_view text) {
  return {text.data(), text.size()};
}
inline sluice_bytes abi_bytes(std::string_view bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}
inline sluice_outcome abi_outcome(std::uint16_t outcome_class, std::uint16_t scope, std::string_view text) {
  sluice_outcome outcome{};
  outcome.struct_size = sizeof outcome;
  outcome.outcome_class = outcome_class;
  outcome.scope = scope;
  outcome.code = abi_text("test.code");
  outcome.text = abi_text(text);
  return outcome;
}

}  // namespace sluice::plugin
