// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace source_template {

// A place in the back end's order: what it is ordered by, for example the time of the last change, and what tells items apart that are
// equal in it. Without the second, a page that ends between two equal items would lose one.
struct Cursor {
  std::int64_t position = 0;
  std::string id;  // not empty

  friend auto operator<=>(const Cursor&, const Cursor&) = default;
};

struct CorruptCursor : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The source's state: "<position>:<id>".
[[nodiscard]] std::string encode(const Cursor& cursor);
// Throws CorruptCursor.
[[nodiscard]] Cursor decode(std::string_view state);

}  // namespace source_template
