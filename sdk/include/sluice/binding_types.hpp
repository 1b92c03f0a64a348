// SPDX-License-Identifier: Apache-2.0
// The types that configuration can be bound to, and their way to and from a Value. Authors use binding.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sluice/binding_schema.hpp>
#include <sluice/duration.hpp>
#include <sluice/secret.hpp>
#include <sluice/size.hpp>

namespace sluice {

// Both ends included.
template <typename T>
struct Range {
  T min;
  T max;
};

// Of a text in bytes, of a list or map in entries; both ends included.
struct Length {
  std::uint32_t min = 0;
  std::uint32_t max = 65'536;
};

// An enum is bound by the names that a function beside it tells:
//   constexpr auto enum_names(Mode) { return std::to_array<sluice::EnumName<Mode>>({{"raw", Mode::kRaw}, {"ndjson", Mode::kNdjson}}); }
template <typename E>
struct EnumName {
  std::string_view name;
  E value;
};

namespace detail {

using TextList = std::vector<std::string>;
using TextMap = std::map<std::string, std::string>;
using SecretMap = std::map<std::string, Secret>;

template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) { enum_names(value); };
template <typename T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept Ranged = WholeNumber<T> || std::same_as<T, double> || std::same_as<T, Duration> || std::same_as<T, Size>;
template <typename T>
concept AnyMap = std::same_as<T, TextMap> || std::same_as<T, SecretMap>;
template <typename T>
concept Sized = std::same_as<T, std::string> || std::same_as<T, Secret> || std::same_as<T, TextList> || AnyMap<T>;
template <typename T>
concept Bindable = Ranged<T> || Sized<T> || NamedEnum<T> || std::same_as<T, bool>;

struct Unlimited {};
template <typename T>
using LimitsOf = std::conditional_t<Ranged<T>, Range<T>, std::conditional_t<Sized<T>, Length, Unlimited>>;

template <Bindable T>
[[nodiscard]] constexpr FieldType field_type() {
  if constexpr (std::same_as<T, bool>) return FieldType::kBool;
  if constexpr (WholeNumber<T>) return FieldType::kInteger;
  if constexpr (std::same_as<T, double>) return FieldType::kNumber;
  if constexpr (std::same_as<T, std::string>) return FieldType::kText;
  if constexpr (NamedEnum<T>) return FieldType::kEnum;
  if constexpr (std::same_as<T, Duration>) return FieldType::kDuration;
  if constexpr (std::same_as<T, Size>) return FieldType::kSize;
  if constexpr (std::same_as<T, Secret>) return FieldType::kSecret;
  if constexpr (std::same_as<T, TextList>) return FieldType::kTextList;
  if constexpr (std::same_as<T, TextMap>) return FieldType::kTextMap;
  if constexpr (std::same_as<T, SecretMap>) return FieldType::kSecretMap;
}

// Values are signed; a larger limit of an unsigned type is cut to what configuration can hold.
template <std::integral T>
[[nodiscard]] constexpr std::int64_t to_int64(T value) {
  return std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value) : std::numeric_limits<std::int64_t>::max();
}

template <Bindable T>
[[nodiscard]] Value to_value(const T& value) {
  if constexpr (WholeNumber<T>) {
    return to_int64(value);
  } else if constexpr (std::same_as<T, Duration>) {
    return to_int64(value.count());
  } else if constexpr (std::same_as<T, Size>) {
    return to_int64(value.bytes);
  } else if constexpr (std::same_as<T, Secret>) {
    return std::string(value.reveal());
  } else if constexpr (NamedEnum<T>) {
    for (const auto& entry : enum_names(value)) {
      if (entry.value == value) return std::string(entry.name);
    }
    return std::string();
  } else if constexpr (std::same_as<T, SecretMap>) {
    TextPairs pairs;
    for (const auto& [name, secret] : value) pairs.emplace_back(name, secret.reveal());
    return pairs;
  } else if constexpr (std::same_as<T, TextMap>) {
    return TextPairs(value.begin(), value.end());
  } else {
    return value;
  }
}

// The parser has checked type and range.
template <Bindable T>
void from_value(Value&& value, T& out) {
  if constexpr (WholeNumber<T>) {
    out = static_cast<T>(std::get<std::int64_t>(value));
  } else if constexpr (std::same_as<T, Duration>) {
    out = Duration(std::get<std::int64_t>(value));
  } else if constexpr (std::same_as<T, Size>) {
    out = Size{static_cast<std::uint64_t>(std::get<std::int64_t>(value))};
  } else if constexpr (std::same_as<T, Secret>) {
    out = Secret(std::get<std::string>(std::move(value)));
  } else if constexpr (NamedEnum<T>) {
    for (const auto& entry : enum_names(out)) {
      if (entry.name == std::get<std::string>(value)) out = entry.value;
    }
  } else if constexpr (AnyMap<T>) {
    out.clear();
    for (auto& [name, text] : std::get<TextPairs>(value)) out.emplace(std::move(name), std::move(text));
  } else {
    out = std::get<T>(std::move(value));
  }
}

}  // namespace detail
}  // namespace sluice
