// SPDX-License-Identifier: Apache-2.0
// What a Binding declares, without the types of its struct: the part of binding.hpp that is compiled once. Authors use binding.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::detail {

// Durations are milliseconds, sizes bytes, secrets and enum values texts.
using TextPairs = std::vector<std::pair<std::string, std::string>>;
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>, TextPairs>;

enum class FieldType : std::uint8_t {
  kBool,
  kInteger,
  kNumber,
  kText,
  kEnum,
  kDuration,
  kSize,
  kSecret,
  kTextList,
  kTextMap,
  kSecretMap,
  kSection
};

struct Schema;

struct Field {
  std::string name;
  std::string description;
  FieldType type = FieldType::kText;
  bool required = true;
  std::optional<Value> fallback;
  std::optional<Value> min;  // of the value; of a text, list or map: of its length, as an integer
  std::optional<Value> max;
  std::vector<std::string> names;  // kEnum: what it may be
  std::function<void(void* object, Value&& value)> set;
  std::function<void*(void* object)> descend;  // kSection: the member itself
  std::shared_ptr<const Schema> section;       // kSection
};

struct Schema {
  std::vector<Field> fields;
  std::function<void(const void* object)> validate;  // may be empty
};

// Fills the object; a ConfigError names the first fault by its JSON pointer.
void parse_into(const Schema& schema, std::string_view json, void* object);
[[nodiscard]] std::string schema_json(const Schema& schema);
[[nodiscard]] std::string markdown_table(const Schema& schema);

// The candidate that differs least from `name` (insertions, deletions, changes, swaps), or nothing if none is near.
[[nodiscard]] std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace sluice::detail
