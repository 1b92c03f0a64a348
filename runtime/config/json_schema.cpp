// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/json_schema.hpp"

#include <fmt/format.h>
#include <boost/json.hpp>
#include <sluice/duration.hpp>
#include <sluice/size.hpp>

#include "runtime/config/loader.hpp"

namespace sluice::config {
namespace {

namespace json = boost::json;

constexpr int kDepthMax = 16;

std::string text_member(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

bool is_true(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::int64_t integer_member(const json::object& object, std::string_view key, std::int64_t fallback) {
  const json::value* found = object.if_contains(key);
  if (found == nullptr || !found->is_number()) return fallback;
  boost::system::error_code error;
  const auto value = found->to_number<std::int64_t>(error);
  return error ? fallback : value;
}

double number_member(const json::object& object, std::string_view key, double fallback) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_number() ? found->to_number<double>() : fallback;
}

// JSON text of a scalar is TOML text of the same value; arrays and objects only differ in ":" and "=", which is close enough to read.
std::string toml_text(const json::value& value) {
  return json::serialize(value);
}

bool holds_secret(const json::value& value) {
  if (const auto* object = value.if_object()) {
    if (is_true(*object, "writeOnly")) return true;
    return std::ranges::any_of(*object, [](const auto& member) { return holds_secret(member.value()); });
  }
  const auto* items = value.if_array();
  return items != nullptr && std::ranges::any_of(*items, holds_secret);
}

Schema convert_schema(const json::value& value, std::string name, int depth);

void convert_object(const json::object& object, Schema& out, int depth) {
  const json::value* properties = object.if_contains("properties");
  const json::value* additional = object.if_contains("additionalProperties");
  const bool is_closed = additional != nullptr && additional->is_bool() && !additional->get_bool();
  if (properties == nullptr && additional != nullptr && additional->is_object()) {
    out.kind = Kind::kMap;
    out.minimum = integer_member(object, "minProperties", 0);
    out.maximum = integer_member(object, "maxProperties", out.maximum);
    out.members.push_back(convert_schema(*additional, "", depth + 1));
    return;
  }
  if (!is_closed || (properties != nullptr && !properties->is_object())) {
    out.kind = Kind::kAny;
    return;
  }
  out.kind = Kind::kTable;
  if (properties == nullptr) return;
  for (const auto& member : properties->get_object())
    out.members.push_back(convert_schema(member.value(), std::string(member.key()), depth + 1));
  const json::value* required = object.if_contains("required");
  if (required == nullptr || !required->is_array()) return;
  for (const json::value& required_name : required->get_array()) {
    for (Schema& member : out.members) {
      if (required_name.is_string() && member.name == std::string_view(required_name.get_string())) member.is_required = true;
    }
  }
}

void convert_duration(const json::object& object, Schema& out) {
  out.kind = Kind::kDuration;
  const auto minimum = parse_duration(text_member(object, "x-sluice-minimum"));
  const auto maximum = parse_duration(text_member(object, "x-sluice-maximum"));
  if (minimum) out.minimum = minimum->count();
  if (maximum) out.maximum = maximum->count();
}

void convert_size(const json::object& object, Schema& out) {
  out.kind = Kind::kSize;
  const auto minimum = parse_size(text_member(object, "x-sluice-minimum"));
  const auto maximum = parse_size(text_member(object, "x-sluice-maximum"));
  if (minimum) out.minimum = static_cast<std::int64_t>(minimum->bytes);
  if (maximum) out.maximum = static_cast<std::int64_t>(maximum->bytes);
}

void convert_string(const json::object& object, Schema& out) {
  out.pattern = text_member(object, "pattern");
  // The SDK's own types are told by their patterns.
  if (out.pattern == kDurationPattern || out.pattern == kSizePattern) {
    const bool is_duration = out.pattern == kDurationPattern;
    out.pattern.clear();
    return is_duration ? convert_duration(object, out) : convert_size(object, out);
  }
  out.kind = Kind::kString;
  out.minimum = integer_member(object, "minLength", out.minimum);
  out.maximum = integer_member(object, "maxLength", out.maximum);
  const json::value* choices = object.if_contains("enum");
  if (choices == nullptr || !choices->is_array()) return;
  for (const json::value& choice : choices->get_array()) {
    if (choice.is_string()) out.choices.emplace_back(choice.get_string());
  }
}

Schema convert_schema(const json::value& value, std::string name, int depth) {
  Schema out{.name = std::move(name), .kind = Kind::kAny, .is_secret = holds_secret(value)};
  const json::object* object = value.if_object();
  if (object == nullptr || depth > kDepthMax) return out;
  out.description = text_member(*object, "description");
  if (const json::value* fallback = object->if_contains("default")) out.default_toml = toml_text(*fallback);
  const std::string type = text_member(*object, "type");
  const bool is_composed = std::ranges::any_of(std::array{"$ref", "oneOf", "anyOf", "allOf", "not", "if", "patternProperties"},
                                               [&](const char* keyword) { return object->contains(keyword); });
  if (is_composed) return out;
  if (type == "boolean") out.kind = Kind::kBool;
  if (type == "integer") {
    out.kind = Kind::kInteger;
    out.minimum = integer_member(*object, "minimum", out.minimum);
    out.maximum = integer_member(*object, "maximum", out.maximum);
  }
  if (type == "number") {
    out.kind = Kind::kNumber;
    out.number_minimum = number_member(*object, "minimum", out.number_minimum);
    out.number_maximum = number_member(*object, "maximum", out.number_maximum);
  }
  if (type == "string") convert_string(*object, out);
  if (type == "object") convert_object(*object, out, depth);
  if (type == "array") {
    const json::value* items = object->if_contains("items");
    if (items == nullptr || !items->is_object()) return out;
    out.kind = Kind::kArray;
    out.minimum = integer_member(*object, "minItems", 0);
    out.maximum = integer_member(*object, "maxItems", out.maximum);
    out.members.push_back(convert_schema(*items, "", depth + 1));
  }
  // Inside a table or list the secret parts are marked themselves.
  if (!is_leaf(out)) out.is_secret = false;
  return out;
}

}  // namespace

Result<Schema> schema_from_json(std::string_view json_schema) {
  if (json_schema.empty()) return Schema{.kind = Kind::kTable};
  boost::system::error_code error;
  const json::value value = json::parse(json_schema, error);
  if (error) return fail(Errc::kInvalid, fmt::format("its configuration schema is not JSON: {}", error.message()));
  Schema out = convert_schema(value, "", 0);
  if (!value.is_object() || text_member(value.get_object(), "type") != "object") {
    return fail(Errc::kInvalid, R"(its configuration schema does not describe an object: "type": "object" is missing)");
  }
  return out;
}

}  // namespace sluice::config
