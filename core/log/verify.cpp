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

Verdict verdict_of(const RecoveryPlan& plan) {
  Verdict out;
  const RecoveryReport& report = plan.report;
  for (const PlannedSegment& planned : plan.segments) {
    ++out.segments;
    out.bytes_verified += planned.segment.bytes;
    if (planned.segment.has_entries()) out.entries += planned.segment.end.op.value() - planned.segment.page.first_op.value() + 1;
    add_changes(planned, out.changes);
  }
  for (const std::string& name : plan.stray_names) out.changes.push_back(fmt::format("{}: removed, nothing refers to it", name));
  if (plan.segments.empty()) {
    out.changes.emplace_back("there is no segment: an empty log is made");
  } else {
    out.head = plan.segments.back().segment.end;
  }
  if (plan.frontier) out.durable = plan.frontier->durable.head;
  if (report.fence_mark) out.changes.push_back(fmt::format("what is not known to be durable is written once more: {}", *report.fence_mark));
  out.clean = report.clean;
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
  if (plan)
    out = verdict_of(*plan);
  else
    out.refusal = std::move(plan).error();
  out.standing = std::move(standing);
  return out;
}

}  // namespace sluice::log
