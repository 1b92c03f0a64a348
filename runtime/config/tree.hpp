// SPDX-License-Identifier: Apache-2.0
// A configuration document as values that know where they came from. What toml++ parsed, the environment added and references resolved.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/config/connector_config.hpp"

namespace sluice::config {

struct TreeMember;

// One value. A value type; tables keep the order of the file and never hold a key twice.
struct Tree {
  using Array = std::vector<Tree>;
  using Table = std::vector<TreeMember>;

  std::variant<bool, std::int64_t, double, std::string, Array, Table> value;
  Origin origin;
  // A text from an environment variable or with a ${…} reference in it: its type comes from the schema, and it is no literal secret.
  bool is_external = false;
  std::vector<std::string> inserted{};  // what its references stand for

  Tree();  // an empty table
  Tree(std::variant<bool, std::int64_t, double, std::string, Array, Table> value_in, Origin origin_in);

  template <typename T>
  [[nodiscard]] const T* get() const {
    return std::get_if<T>(&value);
  }
  template <typename T>
  [[nodiscard]] T* get() {
    return std::get_if<T>(&value);
  }
  // The member of that exact name; null if this is no table or has none.
  [[nodiscard]] const Tree* find(std::string_view key) const;
  [[nodiscard]] Tree* find(std::string_view key);
};

struct TreeMember {
  std::string key;
  Origin key_origin;
  Tree value;
};

// "a string", "an integer", "a table": for messages.
[[nodiscard]] std::string_view type_name(const Tree& tree);

}  // namespace sluice::config
