// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.hpp"

namespace sluice::app {

namespace {

// Code points, which is near enough to columns for what is shown here.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

bool looks_numeric(std::string_view cell) {
  return cell == "-" || cell.empty() || (cell.find_first_not_of("0123456789.") == std::string_view::npos);
}

void append_cell(std::string& line, std::string_view cell, std::size_t width, bool right) {
  const std::string padding(width - columns(cell), ' ');
  if (!line.empty()) line += "  ";
  line += right ? padding : "";
  line += cell;
  line += right ? "" : padding;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

void Table::add(std::vector<std::string> cells) {
  SLUICE_ASSERT(cells.size() == headings_.size(), "{} cells for {} columns", cells.size(), headings_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t column = 0; column < headings_.size(); ++column) {
    widths.push_back(columns(headings_[column]));
    right.push_back(!rows_.empty());
    for (const auto& row : rows_) {
      widths[column] = std::max(widths[column], columns(row[column]));
      right[column] = right[column] && looks_numeric(row[column]);
    }
  }
  std::string out;
  const auto append_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) append_cell(line, cells[column], widths[column], right[column]);
    append_line(out, std::move(line));
  };
  append_row(headings_);
  for (const auto& row : rows_) append_row(row);
  return out;
}

std::string describe(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::size_t width = 0;
  for (const auto& [name, value] : fields) width = std::max(width, columns(name));
  std::string out;
  for (const auto& [name, value] : fields) append_line(out, name + std::string(width - columns(name) + 2, ' ') + value);
  return out;
}

std::string shorten(std::string_view text, std::size_t columns_max) {
  if (columns(text) <= columns_max) return std::string(text);
  std::size_t end = 0;
  for (std::size_t count = 0; count < columns_max && end < text.size(); ++end)
    count += (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U ? 1U : 0U;
  return std::string(text.substr(0, end - 1)) + "…";
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace sluice::app
