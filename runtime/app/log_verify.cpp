// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "core/log/verify.hpp"
#include "core/node/data_directory.hpp"
#include "core/storage/posix_storage.hpp"
#include "runtime/app/log_place.hpp"
#include "runtime/app/offline.hpp"

namespace sluice::app {

namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kGroupsFolder = "groups";

// The group directories of a data directory, or the one that is named.
Result<std::vector<fs::path>> groups_under(const fs::path& path) {
  const fs::path place = fs::absolute(path).lexically_normal();
  if (node::parse_group_directory(place.filename().string())) return std::vector<fs::path>{place};
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(place / kGroupsFolder, error), end; !error && it != end; it.increment(error)) {
    if (node::parse_group_directory(it->path().filename().string())) out.push_back(it->path());
  }
  if (error || out.empty())
    return fail(
        Errc::kNotFound,
        fmt::format("{} is neither a data directory nor the directory of a group in one (groups/<group>-<incarnation>)", path.string()));
  std::ranges::sort(out);
  return out;
}

json::object to_json(const fs::path& directory, const log::Verdict& verdict) {
  json::object out;
  out["directory"] = directory.string();
  out["refused"] = verdict.is_refused();
  if (verdict.standing) out["standing"] = json::object{{"code", verdict.standing->code()}, {"message", verdict.standing->message()}};
  if (verdict.refusal) out["refusal"] = json::object{{"code", verdict.refusal->code()}, {"message", verdict.refusal->message()}};
  out["segments"] = verdict.segments;
  out["entries"] = verdict.entries;
  out["bytes_verified"] = verdict.bytes_verified;
  out["head_op"] = verdict.head.op.value();
  out["next_offset"] = verdict.head.next_offset.value();
  out["durable_op"] = verdict.durable ? json::value(verdict.durable->op.value()) : json::value();
  out["clean"] = verdict.clean;
  out["doubtful_to"] = verdict.doubtful_to.value();
  out["mint_from"] = verdict.mint_from ? json::value(verdict.mint_from->value()) : json::value();
  json::array changes;
  for (const std::string& change : verdict.changes) changes.emplace_back(change);
  out["changes"] = std::move(changes);
  return out;
}

std::string to_text(const fs::path& directory, const log::Verdict& verdict) {
  std::string out = fmt::format("{}\n", directory.string());
  if (verdict.standing) {
    out += fmt::format("  refused at an earlier start: {} [{}]\n", verdict.standing->message(), verdict.standing->code());
  }
  if (verdict.refusal) {
    return out + fmt::format("  a start refuses it: {} [{}]\n  {}\n", verdict.refusal->message(), verdict.refusal->code(),
                             verdict.refusal->explanation());
  }
  if (verdict.standing) out += "  the files as they are would be accepted; remove the file `refused` to let a start judge them\n";
  out += fmt::format("  {} entries in {} segments verify, {} bytes; the newest is op {}, the next offset {}\n", verdict.entries,
                     verdict.segments, verdict.bytes_verified, verdict.head.op, verdict.head.next_offset);
  if (verdict.clean) {
    out += "  closed cleanly: nothing is in doubt\n";
  } else if (verdict.mint_from) {
    out += fmt::format("  not closed: what was acknowledged up to op {} may be gone; a start without a witness goes on at offset {}\n",
                       verdict.doubtful_to, *verdict.mint_from);
  }
  if (verdict.changes.empty()) out += "  a start changes nothing\n";
  for (const std::string& change : verdict.changes) out += fmt::format("  a start changes: {}\n", change);
  return out;
}

}  // namespace

Result<ExitCode> log_verify(const Console& console, const fs::path& path) {
  SLUICE_TRY(const auto lock, lock_directory_of(path));
  SLUICE_TRY(const auto groups, groups_under(path));
  bool sound = true;
  for (const fs::path& directory : groups) {
    const auto group = node::parse_group_directory(directory.filename().string());
    log::LogOptions options;
    options.directory = directory.string();
    options.group = group->group;
    options.incarnation = group->incarnation;
    options.must_exist = true;
    const auto verdict = log::verify(storage::posix_storage(), options);
    if (!verdict) {
      sound = false;
      console.report(verdict.error());
      continue;
    }
    sound = sound && !verdict->is_refused();
    console.print(console.json() ? json::serialize(to_json(directory, *verdict)) + "\n" : to_text(directory, *verdict));
  }
  return sound ? ExitCode::kOk : ExitCode::kFailure;
}

}  // namespace sluice::app
