// SPDX-License-Identifier: Apache-2.0
#include "cursor.hpp"

#include <charconv>

namespace source_template {

std::string encode(const Cursor& cursor) {
  return std::to_string(cursor.position) + ":" + cursor.id;
}

Cursor decode(std::string_view state) {
  Cursor cursor;
  const char* const end = state.data() + state.size();
  const auto [after, error] = std::from_chars(state.data(), end, cursor.position);
  if (error != std::errc{} || after == end || *after != ':') throw CorruptCursor("the state does not begin with a position and a colon");
  cursor.id.assign(after + 1, end);
  if (cursor.id.empty()) throw CorruptCursor("the state has a position but no id");
  return cursor;
}

}  // namespace source_template
