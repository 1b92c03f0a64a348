// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <boost/json.hpp>

#include "core/log/verify.hpp"
#include "core/storage/posix_storage.hpp"
#include "runtime/app/log_place.hpp"
#include "runtime/app/offline.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

json::object to_json(const log::LogOptions& log, const log::Verdict& verdict) {
  json::object out;
  out["directory"] = log.directory;
  out["witness_op"] = log.witness ? json::value(log.witness->op.value()) : json::value();
  out["refused"] = verdict.is_refused();
  if (verdict.standing) out["standing"] = json::object{{"code", verdict.standing->code()}, {"message", verdict.standing->message()}};
  if (verdict.refusal) out["refusal"] = json::object{{"code", verdict.refusal->code()}, {"message", verdict.refusal->message()}};
  out["served_by_seals"] = verdict.served_by_seals;
  out["segments"] = verdict.segments;
  out["segments_by_seal"] = verdict.segments_by_seal;
  out["entries"] = verdict.entries;
  out["bytes_verified"] = verdict.bytes_verified;
  out["head_op"] = verdict.head.op.value();
  out["next_offset"] = verdict.head.next_offset.value();
  out["durable_op"] = verdict.durable ? json::value(verdict.durable->op.value()) : json::value();
  out["clean"] = verdict.clean;
  out["trusted"] = verdict.trusted;
  out["doubtful_to"] = verdict.doubtful_to.value();
  out["mint_from"] = verdict.mint_from ? json::value(verdict.mint_from->value()) : json::value();
  json::array changes;
  for (const std::string& change : verdict.changes) changes.emplace_back(change);
  out["changes"] = std::move(changes);
  return out;
}

// How much a start believes of what it finds.
std::string trust_text(const LogsAt& place, const log::LogOptions& log, const log::Verdict& verdict) {
  if (verdict.clean) return "  closed cleanly: nothing is in doubt\n";
  if (verdict.trusted)
    return fmt::format("  not closed, but only the process had died: the witness at op {} is reached\n", log.witness->op);
  std::string why = "it lies in no data directory";
  if (place.witness_ignored) {
    why = place.witness_ignored->message();
  } else if (log.witness) {
    why = fmt::format("the log does not reach the witness at op {}", log.witness->op);
  } else if (!place.witness_place.empty()) {
    why = fmt::format("there is none in {}", place.witness_place);
  }
  return fmt::format("  not closed, and no witness speaks for it ({}): what was acknowledged up to op {} may be gone\n", why,
                     verdict.doubtful_to);
}

std::string to_text(const LogsAt& place, const log::LogOptions& log, const log::Verdict& verdict) {
  std::string out = fmt::format("{}\n", log.directory);
  if (verdict.standing) {
    out += fmt::format("  refused at an earlier start: {} [{}]\n", verdict.standing->message(), verdict.standing->code());
  }
  if (verdict.refusal && verdict.served_by_seals) {
    return out + fmt::format(
                     "  damaged: {} [{}]\n  a start with recovery.verify = \"tail\", the default, serves it all the same, and reads of the "
                     "damage fail; one with \"full\" refuses it\n",
                     verdict.refusal->message(), verdict.refusal->code());
  }
  if (verdict.refusal) {
    return out + fmt::format("  a start refuses it: {} [{}]\n  {}\n", verdict.refusal->message(), verdict.refusal->code(),
                             verdict.refusal->explanation());
  }
  if (verdict.standing) out += "  the files as they are would be accepted; `sluice log repair` sets the refusal aside\n";
  out += fmt::format("  {} entries in {} segments verify, {} bytes; the newest is op {}, the next offset {}\n", verdict.entries,
                     verdict.segments, verdict.bytes_verified, verdict.head.op, verdict.head.next_offset);
  if (verdict.segments_by_seal != 0) out += fmt::format("  {} of the segments were believed by their seals\n", verdict.segments_by_seal);
  out += trust_text(place, log, verdict);
  if (verdict.changes.empty()) out += "  a start changes nothing\n";
  for (const std::string& change : verdict.changes) out += fmt::format("  a start changes: {}\n", change);
  return out;
}

}  // namespace

Result<ExitCode> log_verify(const Console& console, const LogJudging& judging) {
  SLUICE_TRY(const auto lock, lock_directory_of(judging.path));
  SLUICE_TRY(const LogsAt place, logs_at(judging.path, judging.runtime_dir));
  bool sound = true;
  for (log::LogOptions options : place.logs) {
    options.verify_sealed = !judging.by_seals;
    const auto verdict = log::verify(storage::posix_storage(), options);
    if (!verdict) {
      sound = false;
      console.report(verdict.error());
      continue;
    }
    sound = sound && !verdict->is_refused();
    console.print(console.json() ? json::serialize(to_json(options, *verdict)) + "\n" : to_text(place, options, *verdict));
  }
  return sound ? ExitCode::kOk : ExitCode::kFailure;
}

}  // namespace sluice::app
