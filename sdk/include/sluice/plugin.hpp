// SPDX-License-Identifier: Apache-2.0
// Makes a plugin of connectors. In exactly one source file of the library:
//
//   SLUICE_PLUGIN("acme", "1.2.0", AcmeSink, AcmeSource);
//
// A connector is a class derived from Sink or Source with
//   using Config = …;                                      a struct with `static void bind(Binding<Config>&)`, see binding.hpp
//   static constexpr sluice::Descriptor kDescriptor{…};
//   explicit AcmeSink(Config config, sluice::Context& context);
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <sluice/abi/entry.h>
#include <sluice/binding.hpp>
#include <sluice/sink.hpp>
#include <sluice/source.hpp>

namespace sluice {

// What a connector promises; abi/connector.h says what each means.
struct Descriptor {
  const char* id;
  const char* summary;
  bool replay_idempotent = false;
  bool ordered = true;
  bool own_positions = false;
  std::uint32_t max_batches_in_flight = 1;
  std::uint32_t state_version = 1;
};

namespace detail {

// One connector of the library, as the thunks need it: static data and plain functions.
struct Registration {
  sluice_descriptor descriptor;
  std::string (*schema)();
  std::unique_ptr<Sink> (*make_sink)(std::string_view config_json, Context& context);
  std::unique_ptr<Source> (*make_source)(std::string_view config_json, Context& context);
  std::string (*migrate_state)(std::uint32_t from_version, std::string_view state);  // null = there is none
};

template <typename T>
concept Connector = (std::derived_from<T, Sink> || std::derived_from<T, Source>) && requires {
  typename T::Config;
} && std::constructible_from<T, typename T::Config, Context&> && std::same_as<std::remove_cvref_t<decltype(T::kDescriptor)>, Descriptor>;

template <Connector T>
[[nodiscard]] Registration registration(const char* version) {
  constexpr const Descriptor& kFrom = T::kDescriptor;
  constexpr bool kIsSink = std::derived_from<T, Sink>;
  Registration r{};
  r.descriptor.struct_size = sizeof(sluice_descriptor);
  r.descriptor.kind = kIsSink ? SLUICE_KIND_SINK : SLUICE_KIND_SOURCE;
  r.descriptor.id = kFrom.id;
  r.descriptor.summary = kFrom.summary;
  r.descriptor.version = version;
  r.descriptor.capabilities = (kFrom.replay_idempotent ? SLUICE_CAPABILITY_REPLAY_IDEMPOTENT : 0) |
                              (kFrom.ordered ? SLUICE_CAPABILITY_ORDERED : 0) | (kFrom.own_positions ? SLUICE_CAPABILITY_OWN_POSITIONS : 0);
  r.descriptor.max_batches_in_flight = kIsSink ? 1 : kFrom.max_batches_in_flight;
  r.descriptor.state_version = kIsSink ? 0 : kFrom.state_version;
  r.schema = [] { return config_schema<typename T::Config>(); };
  if constexpr (kIsSink) {
    r.make_sink = [](std::string_view config_json, Context& context) -> std::unique_ptr<Sink> {
      return std::make_unique<T>(parse_config<typename T::Config>(config_json), context);
    };
  } else {
    r.make_source = [](std::string_view config_json, Context& context) -> std::unique_ptr<Source> {
      return std::make_unique<T>(parse_config<typename T::Config>(config_json), context);
    };
    if constexpr (requires { T::migrate_state(std::uint32_t{}, std::string_view{}); }) r.migrate_state = &T::migrate_state;
    static_assert(
        kFrom.state_version == 1 || requires { T::migrate_state(std::uint32_t{}, std::string_view{}); },
        "a source with state_version above 1 needs migrate_state");
  }
  return r;
}

// The library's connectors; defined by SLUICE_PLUGIN, made on first use so that loading the library runs no code of ours.
[[nodiscard]] std::span<const Registration> registrations();

// Instances without a library around them, for registrations() and for the drivers of a connector's own tests. The registration outlives
// the instance.
[[nodiscard]] const sluice_sink* create_sink(const Registration& registration, const sluice_host& host);
[[nodiscard]] const sluice_source* create_source(const Registration& registration, const sluice_host& host);

sluice_status entry_init(const sluice_host* host, const sluice_outcome_writer* failure) noexcept;
void entry_deinit() noexcept;
const void* entry_get_factory(const char* factory_id) noexcept;

template <Connector... Ts>
[[nodiscard]] std::span<const Registration> registrations_of(const char* version) {
  static const Registration all[] = {registration<Ts>(version)...};
  return all;
}

}  // namespace detail
}  // namespace sluice

#define SLUICE_PLUGIN(plugin_id, plugin_version, ...)                                            \
  std::span<const ::sluice::detail::Registration> sluice::detail::registrations() {              \
    return ::sluice::detail::registrations_of<__VA_ARGS__>(plugin_version);                      \
  }                                                                                              \
  extern "C" SLUICE_EXPORT const sluice_entry sluice_entry_v1 = {sizeof(sluice_entry),           \
                                                                 SLUICE_ABI_MINOR,               \
                                                                 SLUICE_ABI_BUILD_ID,            \
                                                                 (plugin_id),                    \
                                                                 (plugin_version),               \
                                                                 SLUICE_SDK_VERSION,             \
                                                                 ::sluice::detail::entry_init,   \
                                                                 ::sluice::detail::entry_deinit, \
                                                                 ::sluice::detail::entry_get_factory}
