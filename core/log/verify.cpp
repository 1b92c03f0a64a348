// SPDX-License-Identifier: Apache-2.0
#include "core/log/verify.hpp"

#include <fmt/format.h>

#include "core/log/recovery_plan.hpp"

namespace sluice::log {
namespace {

void add_changes(const PlannedSegment& planned, std::vector<std::string>& changes) {
  const std::uint64_t end = planned.segment.bytes;
  if (planned.page_missing) changes.push_back(fmt::format("{}: its header page is written anew", planned.path));
  if (planned.set_aside_tail) {
    changes.push_back(fmt::format("{}: {} bytes from byte {} on are copied to a file beside it and cut off: {}", planned.path,
                                  planned.file_bytes - end, end, planned.tail_reason));
  } else if (planned.file_bytes > end) {
    changes.push_back(
        fmt::format("{}: {} zeros ahead of the entries, from byte {} on, are cut off", planned.path, planned.file_bytes - end, end));
  }
  if (planned.rebuild_index) {
    changes.push_back(fmt::format("{}: its index is made anew from it", planned.path));
  } else if (!planned.missing_index_entries.empty()) {
    changes.push_back(fmt::format("{}: its index gets {} missing entries", planned.path, planned.missing_index_entries.size()));
  }
}

// What a start does with the last segment once it is as it should be, and with the offsets behind it.
void add_last_changes(const RecoveryPlan& plan, std::vector<std::string>& changes) {
  const PlannedSegment& active = plan.segments.back();
  const RecoveryReport& report = plan.report;
  for (std::size_t i = 0; i + 1 < plan.segments.size(); ++i) {
    if (!plan.segments[i].slots.both_sealed) changes.push_back(fmt::format("{}: its seal is written", plan.segments[i].path));
  }
  if (!active.page_missing && is_unproven(active, report)) {
    const std::uint64_t durable = active.slots.newest->durable.position;
    changes.push_back(fmt::format("{}: its header page and {} bytes from byte {} on are written once more, as they are: {}", active.path,
                                  active.segment.bytes - durable, durable,
                                  report.fence_mark ? "a write or sync had failed" : "they are not known to be on the device"));
  }
  if (report.slot_lost) changes.push_back(fmt::format("{}: a slot of the frontier that does not verify is written anew", active.path));
  if (report.fence_mark) changes.emplace_back("the mark of the failed write or sync is removed");
  if (report.mint_from) {
    changes.push_back(fmt::format("offsets {} to {} become a gap, the first new entry: they may have been given out before",
                                  active.segment.end.next_offset, *report.mint_from - 1));
  }
}

Verdict verdict_of(const LogOptions& options, const RecoveryPlan& plan) {
  Verdict out;
  const RecoveryReport& report = plan.report;
  if (plan.truncated_segment) {
    out.changes.push_back(fmt::format("{}/{}: removed, a truncation that was not carried out to its end took it away", options.directory,
                                      segment_name(*plan.truncated_segment)));
  }
  for (const PlannedSegment& planned : plan.segments) {
    ++out.segments;
    add_changes(planned, out.changes);
    if (planned.segment.by_seal) {
      ++out.segments_by_seal;
      continue;
    }
    out.bytes_verified += planned.segment.bytes;
    if (planned.segment.has_entries()) out.entries += planned.segment.end.op.value() - planned.segment.page.first_op.value() + 1;
  }
  for (const std::string& name : plan.stray_names) out.changes.push_back(fmt::format("{}: removed, nothing refers to it", name));
  if (plan.segments.empty()) {
    out.changes.emplace_back("there is no segment: an empty log is made");
  } else {
    out.head = plan.segments.back().segment.end;
    add_last_changes(plan, out.changes);
  }
  if (plan.frontier) out.durable = plan.frontier->durable.head;
  out.clean = report.clean;
  out.trusted = report.trusted;
  out.doubtful_to = report.doubtful_to;
  out.mint_from = report.mint_from;
  return out;
}

}  // namespace

Result<Verdict> verify(storage::Storage& storage, const LogOptions& options) {
  std::optional<Error> standing;
  if (auto marker = judge_marker(storage, options); !marker) standing = std::move(marker).error();
  auto plan = judge_files(storage, options);
  if (!plan && !is_refusal(plan.error())) return fail(std::move(plan).error());
  Verdict out;
  if (plan) {
    out = verdict_of(options, *plan);
  } else {
    out.refusal = std::move(plan).error();
    LogOptions by_seals = options;
    by_seals.verify_sealed = false;
    out.served_by_seals = options.verify_sealed && !standing && judge_files(storage, by_seals).has_value();
  }
  out.standing = std::move(standing);
  return out;
}

}  // namespace sluice::log
