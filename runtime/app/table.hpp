// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::app {

// Aligned columns for people: headings, then rows; columns of numbers are right-aligned, two blanks between columns, no trailing blanks.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  // As many cells as headings.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

// "NAME  value" lines, the values aligned.
[[nodiscard]] std::string describe(const std::vector<std::pair<std::string, std::string>>& fields);

// At most `columns_max` characters, the last of them "…" if something was cut.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t columns_max);

// 1536 → "1.5 KiB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace sluice::app
