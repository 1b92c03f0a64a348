// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::config {

Tree::Tree() : value(Table{}) {}
Tree::Tree(std::variant<bool, std::int64_t, double, std::string, Array, Table> value_in, Origin origin_in)
    : value(std::move(value_in)), origin(std::move(origin_in)) {}

const Tree* Tree::find(std::string_view key) const {
  const Table* table = get<Table>();
  if (table == nullptr) return nullptr;
  const auto found = std::ranges::find(*table, key, &TreeMember::key);
  return found == table->end() ? nullptr : &found->value;
}

Tree* Tree::find(std::string_view key) {
  return const_cast<Tree*>(std::as_const(*this).find(key));
}

std::string_view type_name(const Tree& tree) {
  constexpr std::array<std::string_view, 6> kNames{"a boolean", "an integer", "a number", "a string", "an array", "a table"};
  return kNames[tree.value.index()];
}

}  // namespace sluice::config
