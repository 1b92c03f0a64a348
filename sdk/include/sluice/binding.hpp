// SPDX-License-Identifier: Apache-2.0
// Strict, typed configuration from one declaration per struct:
//
//   struct AcmeConfig {
//     std::string url;
//     sluice::Duration timeout{};
//     static void bind(sluice::Binding<AcmeConfig>& b) {
//       b.required("url", &AcmeConfig::url, "Where to send records.", {.min = 1, .max = 2048});
//       b.optional("timeout", &AcmeConfig::timeout, 30s, {1ms, 1h}, "Longest wait for an answer.");
//     }
//     void validate() const;  // may be left out: what no single field can tell; throws ConfigError
//   };
//
// From it come parse_config (an unknown key, a wrong type, a value out of range is a ConfigError with its JSON pointer), config_schema
// (JSON Schema) and config_table (the README's table). Types: bool, whole numbers, double, std::string, enums with names, Duration, Size,
// Secret, structs, std::vector<std::string>, std::map<std::string, std::string> and std::map<std::string, Secret>. [any thread]
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sluice/binding_types.hpp>
#include <sluice/outcome.hpp>

namespace sluice {

// The declaration in the making. Numbers, durations and sizes always have a range.
template <typename C>
class Binding {
 public:
  template <detail::Bindable T>
  void required(std::string name, T C::* member, detail::LimitsOf<T> limits, std::string description) {
    add(std::move(name), member, limits, std::move(description));
  }
  template <detail::Bindable T>
    requires(!detail::Ranged<T>)
  void required(std::string name, T C::* member, std::string description) {
    add(std::move(name), member, detail::LimitsOf<T>{}, std::move(description));
  }
  template <detail::Bindable T>
  void optional(std::string name, T C::* member, const std::type_identity_t<T>& fallback, detail::LimitsOf<T> limits,
                std::string description) {
    set_fallback<T>(add(std::move(name), member, limits, std::move(description)), fallback);
  }
  template <detail::Bindable T>
    requires(!detail::Ranged<T>)
  void optional(std::string name, T C::* member, const std::type_identity_t<T>& fallback, std::string description) {
    set_fallback<T>(add(std::move(name), member, detail::LimitsOf<T>{}, std::move(description)), fallback);
  }
  // A table of its own, bound by S::bind. It may be left out if all its fields are optional.
  template <typename S>
  void section(std::string name, S C::* member, std::string description);

  [[nodiscard]] detail::Schema take() && { return std::move(schema_); }

 private:
  template <typename T>
  detail::Field& add(std::string name, T C::* member, detail::LimitsOf<T> limits, std::string description) {
    detail::Field& field = schema_.fields.emplace_back();
    field.name = std::move(name);
    field.description = std::move(description);
    field.type = detail::field_type<T>();
    if constexpr (detail::Ranged<T> || detail::Sized<T>) {
      field.min = detail::to_value(limits.min);
      field.max = detail::to_value(limits.max);
    } else if constexpr (detail::NamedEnum<T>) {
      for (const auto& entry : enum_names(T{})) field.names.emplace_back(entry.name);
    }
    field.set = [member](void* object, detail::Value&& value) { detail::from_value(std::move(value), static_cast<C*>(object)->*member); };
    return field;
  }
  template <typename T>
  static void set_fallback(detail::Field& field, const T& fallback) {
    field.required = false;
    field.fallback = detail::to_value(fallback);
  }

  detail::Schema schema_;
};

namespace detail {

template <typename C>
[[nodiscard]] Schema make_schema() {
  Binding<C> binding;
  C::bind(binding);
  Schema schema = std::move(binding).take();
  if constexpr (requires(const C& config) { config.validate(); }) {
    schema.validate = [](const void* object) { static_cast<const C*>(object)->validate(); };
  }
  return schema;
}

// Made on first use and kept.
template <typename C>
[[nodiscard]] const Schema& schema_of() {
  static const Schema schema = make_schema<C>();
  return schema;
}

}  // namespace detail

template <typename C>
template <typename S>
void Binding<C>::section(std::string name, S C::* member, std::string description) {
  detail::Field& field = schema_.fields.emplace_back();
  field.name = std::move(name);
  field.description = std::move(description);
  field.type = detail::FieldType::kSection;
  field.section = std::make_shared<detail::Schema>(detail::make_schema<S>());
  field.descend = [member](void* object) -> void* { return &(static_cast<C*>(object)->*member); };
}

// Throws ConfigError.
template <typename C>
[[nodiscard]] C parse_config(std::string_view json) {
  C config{};
  detail::parse_into(detail::schema_of<C>(), json, &config);
  return config;
}

// JSON Schema, draft 7, with defaults, limits, enums, patterns and `writeOnly` for secrets; no other keys are allowed.
template <typename C>
[[nodiscard]] std::string config_schema() {
  return detail::schema_json(detail::schema_of<C>());
}

// A Markdown table: key, type, default, allowed, meaning; keys of sections with their dots.
template <typename C>
[[nodiscard]] std::string config_table() {
  return detail::markdown_table(detail::schema_of<C>());
}

}  // namespace sluice
