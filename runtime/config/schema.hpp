// SPDX-License-Identifier: Apache-2.0
// What a configuration document may contain. One declarative description per place; parsing of environment variables, validation, defaults,
// suggestions and the reference document all come from it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/tree.hpp"

namespace sluice::config {

enum class Kind : std::uint8_t {
  kBool,
  kInteger,
  kNumber,
  kString,
  kDuration,  // "500ms"; range in milliseconds
  kSize,      // "8MiB"; range in bytes
  kPolicy,    // "unlimited", a count of attempts, or a duration; the range is the count's
  kTable,     // `members`
  kArray,     // of `members[0]`
  kMap,       // any key → members[0]
  kAny,       // not described here; somebody else judges it
};

// One value of the document. Inside a table it has a name and its neighbours' names differ.
struct Schema {
  std::string name{};
  Kind kind = Kind::kString;
  std::string description{};
  std::string default_toml{};  // as one writes it; empty = none
  std::string default_note{};  // for people, where the default is computed
  bool is_required = false;
  bool is_secret = false;
  bool is_sink_only = false;
  bool is_environment_only = false;  // a place for variables; unknown in a file
  // kInteger, kPolicy: the value; kDuration: milliseconds; kSize: bytes; kArray, kMap: count of items;
  // kString: count of characters.
  std::int64_t minimum = std::numeric_limits<std::int64_t>::min();
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  double number_minimum = -std::numeric_limits<double>::infinity();  // kNumber
  double number_maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices{};
  std::string pattern{};  // ECMAScript, as in JSON Schema
  // Judges what the fields above cannot say: what is wrong with a value of the right type, as the end of a sentence that begins with its
  // name ("is …; it must …"), or nothing.
  std::optional<std::string> (*judge)(const Tree& value) = nullptr;
  std::vector<Schema> members{};

  [[nodiscard]] const Schema* find(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> member_names() const;
};

[[nodiscard]] bool is_leaf(const Schema& schema);
// "a duration such as "30s"": what a value of this kind looks like.
[[nodiscard]] std::string_view expectation(const Schema& schema);
// "1s to 10m", "at least 1", "`a`, `b` or `c`"; empty if everything goes.
[[nodiscard]] std::string range_text(const Schema& schema);

}  // namespace sluice::config
