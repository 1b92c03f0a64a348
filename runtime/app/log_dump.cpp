// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "core/log/segment_dump.hpp"
#include "core/storage/posix_storage.hpp"
#include "runtime/app/log_place.hpp"
#include "runtime/app/offline.hpp"
#include "runtime/app/table.hpp"
#include "runtime/base/time_format.hpp"

namespace sluice::app {

namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

Result<std::vector<fs::path>> segments_under(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return fail(Errc::kNotFound, fmt::format("{} does not exist", path.string()));
  if (fs::is_regular_file(status)) return std::vector<fs::path>{path};
  std::vector<fs::path> out;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".log" && log::parse_segment_name(it->path().filename().string(), ".log")) out.push_back(it->path());
  }
  if (error) return fail(errno_error(error.value(), "cannot list " + path.string()));
  std::ranges::sort(out);
  if (out.empty()) return fail(Errc::kNotFound, fmt::format("there is no segment file under {}", path.string()));
  return out;
}

std::string flag_names(const entry::EntryHeader& header) {
  std::string out;
  if (header.has(entry::flag::kMustSync)) out += "sync ";
  if (header.has(entry::flag::kFirstOfSegment)) out += "first ";
  if (header.has(entry::flag::kHasClient)) out += "client ";
  if (!out.empty()) out.pop_back();
  return out;
}

void print_entry(const Console& console, const log::DumpedEntry& dumped) {
  const entry::EntryHeader& header = dumped.view.header();
  const std::uint64_t state_bytes = dumped.view.body().size() - std::min<std::size_t>(header.messages_bytes, dumped.view.body().size());
  if (!console.json()) {
    console.print(fmt::format(
        "{:>12}  op {:<8} view {:<3} {:<15} offsets {}..{}  {:>6} records  {:>10} B  state {} B  {}  {}\n", dumped.position, header.op,
        header.view, entry::to_string(header.kind), header.base_offset, header.next_offset, header.message_count, header.size,
        header.kind == entry::EntryKind::kMessages ? state_bytes : 0, format_rfc3339(header.base_timestamp), flag_names(header)));
    return;
  }
  json::object out;
  out["position"] = dumped.position;
  out["op"] = header.op.value();
  out["commit"] = header.commit.value();
  out["view"] = header.view.value();
  out["kind"] = entry::to_string(header.kind);
  out["identity"] = to_hex(header.identity);
  out["parent"] = to_hex(header.parent);
  out["base_offset"] = header.base_offset.value();
  out["next_offset"] = header.next_offset.value();
  out["message_count"] = header.message_count;
  out["size"] = header.size;
  out["messages_bytes"] = header.messages_bytes;
  out["timestamp"] = format_rfc3339(header.base_timestamp);
  out["flags"] = flag_names(header);
  console.print(json::serialize(out) + "\n");
}

void print_segment(const Console& console, const fs::path& file, const log::DumpResult& result) {
  if (!console.json()) {
    const std::string zeros = result.zeros == 0 ? "" : fmt::format(", then {} zeros", result.zeros);
    console.print(fmt::format("{}: {} entries, verified to {} of {} bytes{}{}\n\n", file.string(), result.entries, result.end,
                              result.file_bytes, zeros, result.damage.empty() ? "" : ", then: " + result.damage));
    return;
  }
  json::object out;
  out["segment"] = file.string();
  out["group"] = result.page.group.value();
  out["incarnation"] = result.page.incarnation.value();
  out["first_op"] = result.page.first_op.value();
  out["entries"] = result.entries;
  out["verified_bytes"] = result.end;
  out["file_bytes"] = result.file_bytes;
  out["zeros"] = result.zeros;
  out["damage"] = result.damage;
  console.print(json::serialize(out) + "\n");
}

}  // namespace

Result<ExitCode> log_dump(const Console& console, const fs::path& path) {
  SLUICE_TRY(const auto lock, lock_directory_of(path));
  SLUICE_TRY(const auto segments, segments_under(path));
  bool sound = true;
  for (const fs::path& file : segments) {
    auto result = log::dump_segment(storage::posix_storage(), file.string(), [&](const log::DumpedEntry& dumped) {
      print_entry(console, dumped);
      return true;
    });
    if (!result) {
      sound = false;
      console.report(result.error());
      continue;
    }
    sound = sound && result->damage.empty();
    print_segment(console, file, *result);
  }
  return sound ? ExitCode::kOk : ExitCode::kFailure;
}

}  // namespace sluice::app
