// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/json_text.hpp"

#include <chrono>
#include <cmath>

#include "runtime/base/text.hpp"
#include "runtime/base/time_format.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

constexpr std::size_t kCellBytesMax = 4096;

}  // namespace

const json::value& value_field(const json::value& from, std::string_view name) {
  static const json::value kNull;
  const json::object* object = from.if_object();
  const json::value* found = object == nullptr ? nullptr : object->if_contains(name);
  return found == nullptr ? kNull : *found;
}

std::string text_field(const json::value& from, std::string_view name) {
  const json::value& value = value_field(from, name);
  if (value.is_null()) return "-";
  if (value.is_string()) return clean_text(std::string_view(value.get_string()), kCellBytesMax);
  return json::serialize(value);
}

const json::array& array_field(const json::value& from, std::string_view name) {
  static const json::array kEmpty;
  const json::array* array = value_field(from, name).if_array();
  return array == nullptr ? kEmpty : *array;
}

std::uint64_t number_or_zero(const json::value& from, std::string_view name) {
  boost::system::error_code error;
  const auto number = value_field(from, name).to_number<std::uint64_t>(error);
  return error ? 0 : number;
}

std::string span_field(const json::value& from, std::string_view name) {
  boost::system::error_code error;
  const double seconds = value_field(from, name).to_number<double>(error);
  if (error || !std::isfinite(seconds) || seconds <= 0 || seconds > 1e12) return "-";
  return format_span(std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
}

}  // namespace sluice::app
