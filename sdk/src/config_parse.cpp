// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <limits>

#include <sluice/binding_schema.hpp>
#include <sluice/duration.hpp>
#include <sluice/outcome.hpp>
#include <sluice/size.hpp>

namespace sluice::detail {
namespace {

namespace json = boost::json;

std::string child_pointer(const std::string& parent, std::string_view name) {
  std::string pointer = parent + '/';
  for (const char c : name) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

std::string_view kind_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "a whole number";
    case json::kind::double_:
      return "a fraction";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "a table";
  }
  return "something else";
}

[[noreturn]] void wrong_type(const std::string& pointer, std::string_view expected, const json::value& got) {
  throw ConfigError(pointer, std::string("expected ").append(expected).append(", got ").append(kind_name(got)));
}

std::string limit_text(const Value& limit, FieldType type) {
  if (const auto* number = std::get_if<double>(&limit)) return json::serialize(json::value(*number));
  const std::int64_t value = std::get<std::int64_t>(limit);
  if (type == FieldType::kDuration) return format_duration(Duration(value));
  if (type == FieldType::kSize) return format_size(Size{static_cast<std::uint64_t>(value)});
  return std::to_string(value);
}

template <typename T>
void check_range(const Field& field, const std::string& pointer, T value, std::string_view what) {
  if (value >= std::get<T>(*field.min) && value <= std::get<T>(*field.max)) return;
  throw ConfigError(pointer, std::string(what) + " is out of range: it must be from " + limit_text(*field.min, field.type) + " to " +
                                 limit_text(*field.max, field.type));
}

void check_length(const Field& field, const std::string& pointer, std::size_t length, std::string_view unit) {
  const auto min = static_cast<std::size_t>(std::get<std::int64_t>(*field.min));
  const auto max = static_cast<std::size_t>(std::get<std::int64_t>(*field.max));
  if (length >= min && length <= max) return;
  if (length == 0) throw ConfigError(pointer, "must not be empty");
  throw ConfigError(pointer, "has " + std::to_string(length) + ' ' + std::string(unit) + ": it must have from " + std::to_string(min) +
                                 " to " + std::to_string(max));
}

std::string read_text(const std::string& pointer, const json::value& value, std::string_view expected = "a string") {
  const json::string* text = value.if_string();
  if (text == nullptr) wrong_type(pointer, expected, value);
  return {text->data(), text->size()};
}

Value read_integer(const Field& field, const std::string& pointer, const json::value& value) {
  if (value.is_uint64()) throw ConfigError(pointer, "the value is out of range: it must be at most " + limit_text(*field.max, field.type));
  const std::int64_t* number = value.if_int64();
  if (number == nullptr) wrong_type(pointer, "a whole number", value);
  check_range(field, pointer, *number, "the value");
  return *number;
}

Value read_number(const Field& field, const std::string& pointer, const json::value& value) {
  if (!value.is_number()) wrong_type(pointer, "a number", value);
  const double number = value.to_number<double>();
  check_range(field, pointer, number, "the value");
  return number;
}

Value read_enum(const Field& field, const std::string& pointer, const json::value& value) {
  const std::string text = read_text(pointer, value);
  if (std::find(field.names.begin(), field.names.end(), text) != field.names.end()) return text;
  std::string allowed;
  for (const std::string& name : field.names) allowed += (allowed.empty() ? "\"" : ", \"") + name + '"';
  const auto suggestion = nearest(text, field.names);
  throw ConfigError(pointer, "must be one of " + allowed, suggestion ? "did you mean \"" + *suggestion + "\"?" : "");
}

Value read_duration(const Field& field, const std::string& pointer, const json::value& value) {
  const auto duration = parse_duration(read_text(pointer, value, "a duration such as \"500ms\" or \"1m30s\""));
  if (!duration) throw ConfigError(pointer, "is not a duration", "write whole numbers with units d, h, m, s, ms: \"500ms\", \"1m30s\"");
  check_range(field, pointer, std::int64_t{duration->count()}, "the duration");
  return std::int64_t{duration->count()};
}

Value read_size(const Field& field, const std::string& pointer, const json::value& value) {
  const auto size = parse_size(read_text(pointer, value, "a size such as \"8MiB\""));
  if (!size) throw ConfigError(pointer, "is not a size", "write a whole number with its unit: \"512B\", \"64KiB\", \"8MiB\", \"1GB\"");
  check_range(field, pointer, static_cast<std::int64_t>(size->bytes), "the size");
  return static_cast<std::int64_t>(size->bytes);
}

Value read_list(const Field& field, const std::string& pointer, const json::value& value) {
  const json::array* array = value.if_array();
  if (array == nullptr) wrong_type(pointer, "a list of strings", value);
  check_length(field, pointer, array->size(), "entries");
  std::vector<std::string> list;
  for (std::size_t i = 0; i < array->size(); ++i) list.push_back(read_text(child_pointer(pointer, std::to_string(i)), (*array)[i]));
  return list;
}

Value read_map(const Field& field, const std::string& pointer, const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) wrong_type(pointer, "a table of strings", value);
  check_length(field, pointer, object->size(), "entries");
  TextPairs pairs;
  for (const auto& entry : *object) pairs.emplace_back(entry.key(), read_text(child_pointer(pointer, entry.key()), entry.value()));
  return pairs;
}

Value read_value(const Field& field, const std::string& pointer, const json::value& value) {
  switch (field.type) {
    case FieldType::kBool:
      if (!value.is_bool()) wrong_type(pointer, "true or false", value);
      return value.get_bool();
    case FieldType::kInteger:
      return read_integer(field, pointer, value);
    case FieldType::kNumber:
      return read_number(field, pointer, value);
    case FieldType::kText:
    case FieldType::kSecret: {
      std::string text = read_text(pointer, value);
      check_length(field, pointer, text.size(), "bytes");
      return text;
    }
    case FieldType::kEnum:
      return read_enum(field, pointer, value);
    case FieldType::kDuration:
      return read_duration(field, pointer, value);
    case FieldType::kSize:
      return read_size(field, pointer, value);
    case FieldType::kTextList:
      return read_list(field, pointer, value);
    case FieldType::kTextMap:
    case FieldType::kSecretMap:
      return read_map(field, pointer, value);
    case FieldType::kSection:
      break;
  }
  throw FatalError("sdk.binding", "a section is no value: " + pointer);
}

void refuse_unknown_keys(const Schema& schema, const json::object& object, const std::string& pointer) {
  std::vector<std::string> known;
  for (const Field& field : schema.fields) known.push_back(field.name);
  for (const auto& entry : object) {
    if (std::find(known.begin(), known.end(), entry.key()) != known.end()) continue;
    const auto suggestion = nearest(entry.key(), known);
    throw ConfigError(child_pointer(pointer, entry.key()), "unknown key \"" + std::string(entry.key()) + '"',
                      suggestion ? "did you mean \"" + *suggestion + "\"?" : "");
  }
}

void read_object(const Schema& schema, const json::object& object, const std::string& pointer, void* out) {
  refuse_unknown_keys(schema, object, pointer);
  for (const Field& field : schema.fields) {
    const std::string here = child_pointer(pointer, field.name);
    const json::value* value = object.if_contains(field.name);
    if (field.type == FieldType::kSection) {
      if (value != nullptr && !value->is_object()) wrong_type(here, "a table", *value);
      read_object(*field.section, value == nullptr ? json::object() : value->get_object(), here, field.descend(out));
    } else if (value != nullptr) {
      field.set(out, read_value(field, here, *value));
    } else if (field.required) {
      throw ConfigError(here, "required key \"" + field.name + "\" is missing", field.description);
    } else {
      field.set(out, Value(*field.fallback));
    }
  }
  if (!schema.validate) return;
  try {
    schema.validate(out);
  } catch (const ConfigError& error) {
    // A struct names its own fields; where it stands in the whole only the parser knows.
    throw ConfigError(pointer + error.outcome().pointer, error.outcome().text, error.outcome().hint);
  }
}

}  // namespace

void parse_into(const Schema& schema, std::string_view text, void* object) {
  boost::system::error_code error;
  const json::value root = json::parse(json::string_view(text.data(), text.size()), error);
  if (error) throw ConfigError("", "the configuration is not JSON: " + error.message());
  if (!root.is_object()) wrong_type("", "a table", root);
  read_object(schema, root.get_object(), "", object);
}

}  // namespace sluice::detail
