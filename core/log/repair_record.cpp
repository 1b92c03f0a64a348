// SPDX-License-Identifier: Apache-2.0
#include "core/log/repair_record.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace sluice::log {
namespace {

constexpr std::uint64_t kRepairsBytesMax = 16u << 20;
constexpr std::string_view kBeginLine = "refused = ";
constexpr std::string_view kLimitLine = "limit = ";
constexpr std::string_view kDoneLine = "done";

Result<std::string> load(storage::Storage& storage, const std::string& directory) {
  auto bytes = storage::read_file(storage, directory + "/" + kRepairsName, kRepairsBytesMax);
  if (!bytes && storage::is_absent(bytes.error())) return std::string();
  if (!bytes) return fail(std::move(bytes).error());
  return std::string(as_text(*bytes));
}

Result<void> add(storage::Storage& storage, const std::string& directory, const std::string& lines) {
  SLUICE_TRY(const std::string before, load(storage, directory));
  return storage::replace_file(storage, directory, kRepairsName, as_bytes(before + lines));
}

std::optional<Limit> parse_limit(std::string_view text) {
  std::uint64_t op = 0;
  std::uint64_t offset = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, op);
  if (first.ec != std::errc{} || first.ptr == end) return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, offset).ec != std::errc{}) return std::nullopt;
  return Limit{Op{op}, Offset{offset}};
}

}  // namespace

Result<RepairRecord> read_repairs(storage::Storage& storage, const std::string& directory) {
  SLUICE_TRY(const std::string all, load(storage, directory));
  RepairRecord out;
  for (std::string_view text = all; !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(kBeginLine)) out.pending = true;
    if (line == kDoneLine) out.pending = false;
    if (!line.starts_with(kLimitLine)) continue;
    if (const auto limit = parse_limit(line.substr(kLimitLine.size())))
      out.limit = {std::max(out.limit.op, limit->op), std::max(out.limit.offset, limit->offset)};
  }
  return out;
}

Result<void> record_begin(storage::Storage& storage, const std::string& directory, const Error& refusal,
                          const std::vector<std::string>& steps, const Limit& limit) {
  std::string lines = fmt::format("{}{}: {}\n", kBeginLine, refusal.code(), refusal.message());
  for (const std::string& step : steps) lines += fmt::format("step = {}\n", step);
  lines += fmt::format("{}{} {}\n", kLimitLine, limit.op, limit.offset);
  return add(storage, directory, lines);
}

Result<void> record_done(storage::Storage& storage, const std::string& directory) {
  return add(storage, directory, fmt::format("{}\n\n", kDoneLine));
}

}  // namespace sluice::log
