// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/json.hpp>

#include <sluice/binding_schema.hpp>
#include <sluice/duration.hpp>
#include <sluice/size.hpp>

namespace sluice::detail {
namespace {

namespace json = boost::json;

json::string text_of(std::string_view text) {
  return json::string(text.data(), text.size());
}

// A value as configuration would write it.
json::value written(const Value& value, FieldType type) {
  if (type == FieldType::kDuration) return text_of(format_duration(Duration(std::get<std::int64_t>(value))));
  if (type == FieldType::kSize) return text_of(format_size(Size{static_cast<std::uint64_t>(std::get<std::int64_t>(value))}));
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return text_of(*text);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    json::array array;
    for (const std::string& entry : *list) array.emplace_back(text_of(entry));
    return array;
  }
  json::object object;
  for (const auto& [name, entry] : std::get<TextPairs>(value)) object.emplace(name, text_of(entry));
  return object;
}

bool is_secret(FieldType type) {
  return type == FieldType::kSecret || type == FieldType::kSecretMap;
}

json::object string_schema(bool secret) {
  json::object out{{"type", "string"}};
  if (secret) out["writeOnly"] = true;
  return out;
}

void describe_type(const Field& field, json::object& out) {
  switch (field.type) {
    case FieldType::kBool:
      out["type"] = "boolean";
      break;
    case FieldType::kInteger:
    case FieldType::kNumber:
      out["type"] = field.type == FieldType::kInteger ? "integer" : "number";
      out["minimum"] = written(*field.min, field.type);
      out["maximum"] = written(*field.max, field.type);
      break;
    case FieldType::kDuration:
    case FieldType::kSize:
      out["type"] = "string";
      out["format"] = field.type == FieldType::kDuration ? "sluice-duration" : "sluice-size";
      out["pattern"] = text_of(field.type == FieldType::kDuration ? kDurationPattern : kSizePattern);
      out["x-sluice-minimum"] = written(*field.min, field.type);
      out["x-sluice-maximum"] = written(*field.max, field.type);
      break;
    case FieldType::kText:
    case FieldType::kSecret:
      out = string_schema(is_secret(field.type));
      out["minLength"] = written(*field.min, FieldType::kInteger);
      out["maxLength"] = written(*field.max, FieldType::kInteger);
      break;
    case FieldType::kEnum: {
      out["type"] = "string";
      json::array names;
      for (const std::string& name : field.names) names.emplace_back(text_of(name));
      out["enum"] = std::move(names);
      break;
    }
    case FieldType::kTextList:
      out["type"] = "array";
      out["items"] = string_schema(false);
      out["minItems"] = written(*field.min, FieldType::kInteger);
      out["maxItems"] = written(*field.max, FieldType::kInteger);
      break;
    case FieldType::kTextMap:
    case FieldType::kSecretMap:
      out["type"] = "object";
      out["additionalProperties"] = string_schema(is_secret(field.type));
      out["minProperties"] = written(*field.min, FieldType::kInteger);
      out["maxProperties"] = written(*field.max, FieldType::kInteger);
      break;
    case FieldType::kSection:
      break;
  }
}

bool has_required(const Schema& schema) {
  return std::any_of(schema.fields.begin(), schema.fields.end(),
                     [](const Field& field) { return field.type == FieldType::kSection ? has_required(*field.section) : field.required; });
}

json::object object_schema(const Schema& schema) {
  json::object properties;
  json::array required;
  for (const Field& field : schema.fields) {
    json::object property;
    if (field.type == FieldType::kSection) {
      property = object_schema(*field.section);
    } else {
      describe_type(field, property);
      if (field.fallback && !is_secret(field.type)) property["default"] = written(*field.fallback, field.type);
    }
    property["description"] = text_of(field.description);
    properties[field.name] = std::move(property);
    if (field.type == FieldType::kSection ? has_required(*field.section) : field.required) required.emplace_back(text_of(field.name));
  }
  json::object out{{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = std::move(required);
  return out;
}

std::string_view type_name(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return "boolean";
    case FieldType::kInteger:
      return "integer";
    case FieldType::kNumber:
      return "number";
    case FieldType::kText:
    case FieldType::kEnum:
      return "string";
    case FieldType::kDuration:
      return "duration";
    case FieldType::kSize:
      return "size";
    case FieldType::kSecret:
      return "secret";
    case FieldType::kTextList:
      return "list of strings";
    case FieldType::kTextMap:
      return "table of strings";
    case FieldType::kSecretMap:
      return "table of secrets";
    case FieldType::kSection:
      return "table";
  }
  return "";
}

std::string plain(const json::value& value) {
  return value.is_string() ? std::string(value.get_string().data(), value.get_string().size()) : json::serialize(value);
}

std::string allowed(const Field& field) {
  if (field.type == FieldType::kEnum) {
    std::string all;
    for (const std::string& name : field.names) all += (all.empty() ? "`" : ", `") + name + '`';
    return all;
  }
  if (!field.min) return "";
  const bool measured = field.type == FieldType::kDuration || field.type == FieldType::kSize || field.type == FieldType::kInteger ||
                        field.type == FieldType::kNumber;
  const std::string limits = plain(written(*field.min, field.type)) + " … " + plain(written(*field.max, field.type));
  if (measured) return limits;
  return std::get<std::int64_t>(*field.min) > 0 ? "not empty" : "";
}

void table_rows(const Schema& schema, const std::string& prefix, std::string& out) {
  for (const Field& field : schema.fields) {
    const std::string key = prefix + field.name;
    if (field.type == FieldType::kSection) {
      table_rows(*field.section, key + '.', out);
      continue;
    }
    std::string fallback = "required";
    if (field.fallback) fallback = is_secret(field.type) ? "none" : '`' + json::serialize(written(*field.fallback, field.type)) + '`';
    out += "| `" + key + "` | " + std::string(type_name(field.type)) + " | " + fallback + " | " + allowed(field) + " | " +
           field.description + " |\n";
  }
}

}  // namespace

std::string schema_json(const Schema& schema) {
  json::object root{{"$schema", "http://json-schema.org/draft-07/schema#"}};
  for (auto& entry : object_schema(schema)) root[entry.key()] = entry.value();
  return json::serialize(root);
}

std::string markdown_table(const Schema& schema) {
  std::string out = "| key | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
  table_rows(schema, "", out);
  return out;
}

}  // namespace sluice::detail
