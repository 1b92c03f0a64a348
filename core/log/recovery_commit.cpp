// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/chain.hpp"
#include "core/log/recovery_plan.hpp"
#include "core/log/segment_scan.hpp"
#include "core/log/set_aside.hpp"

namespace sluice::log {
namespace {

constexpr std::size_t kCopyBytes = 1u << 20;

Result<void> set_aside(storage::Storage& storage, const LogOptions& options, const PlannedSegment& planned, RecoveryReport& report) {
  const FileRange tail{planned.path, planned.segment.bytes, planned.file_bytes};
  SLUICE_TRY(std::string copy, copy_aside(storage, options.directory, tail));
  report.cut = RecoveryReport::Cut{planned.path, tail.position, tail.end - tail.position, std::move(copy), planned.tail_reason};
  return {};
}

Result<void> write_index(storage::Storage& storage, const LogOptions& options, const PlannedSegment& planned) {
  ByteVector bytes;
  for (const IndexEntry& entry : planned.segment.index.entries()) encode_index_entry(bytes, entry);
  return storage::replace_file(storage, options.directory, index_name(planned.segment.page.first_op), bytes);
}

// The index first, then the log: an index that ends early is harmless at any moment in between, one that reaches too far is rebuilt.
Result<void> mend_segment(storage::Storage& storage, const LogOptions& options, PlannedSegment& planned, RecoveryReport& report) {
  if (planned.set_aside_tail && !SLUICE_MUTATED(kTailDeleted)) SLUICE_CHECK(set_aside(storage, options, planned, report));
  if (planned.rebuild_index) {
    SLUICE_CHECK(write_index(storage, options, planned));
    if (planned.segment.has_entries()) ++report.indexes_rebuilt;
  }
  if (planned.file_bytes == planned.segment.bytes && !planned.page_missing) return {};
  SLUICE_TRY(const storage::FilePtr log, storage.open(planned.path, storage::OpenMode::kReadWrite));
  if (planned.page_missing) {
    SLUICE_CHECK(log->write(0, encode_first_page(planned.segment.page, *planned.slots.newest)));
    planned.segment.bytes = kSegmentPageBytes;
  }
  SLUICE_CHECK(log->truncate(planned.segment.bytes));
  return log->sync();
}

// The frontier of a segment whose page is written anew: nothing is in it, all before it is durable, and the limit stands.
Frontier first_frontier(const RecoveredSegment& segment, const std::optional<Frontier>& before) {
  Frontier out;
  out.sequence = before ? before->sequence + 1 : 1;
  out.epoch = before ? before->epoch : 0;
  out.segment = segment.page.first_op;
  out.durable = {segment.end, kSegmentPageBytes};
  out.limit = before ? before->limit : Limit{segment.end.op, segment.end.next_offset};
  return out;
}

Result<void> rewrite_range(storage::File& log, std::uint64_t position, std::uint64_t end) {
  ByteVector buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, end - position)));
  while (position < end) {
    const MutableBytes want = MutableBytes(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - position)));
    SLUICE_TRY(const std::size_t got, log.read(position, want));
    if (got != want.size())
      return fail(sluice::Errc::kIo, fmt::format("{} ends at byte {}, and it was longer a moment ago", log.path(), position + got));
    SLUICE_CHECK(log.write(position, Bytes(want)));
    position += want.size();
  }
  return {};
}

Result<void> rewrite_unproven(storage::File& log, const PlannedSegment& active, RecoveryReport& report) {
  if (!is_unproven(active, report)) return {};
  const std::uint64_t durable = active.slots.newest->durable.position;
  SLUICE_CHECK(rewrite_range(log, 0, kSegmentPageBytes));
  SLUICE_CHECK(rewrite_range(log, durable, active.segment.bytes));
  report.bytes_rewritten = active.segment.bytes - durable;
  return {};
}

// Everything up to the end is durable by now. The slot that verifies stays until this one does.
Result<void> replace_lost_slot(storage::File& log, PlannedSegment& active, const Frontier& newest) {
  if (!active.slots.damaged) return {};
  const LogHead& head = active.segment.end;
  Frontier slot = *active.slots.newest;
  slot.sequence += 2;  // the lost one may have been the next
  slot.durable = {head, active.segment.bytes};
  slot.limit = {std::max(newest.limit.op, head.op), std::max(newest.limit.offset, head.next_offset)};
  const std::size_t place = 1 - active.slots.slot;
  SLUICE_CHECK(log.write(frontier_position(place), encode_frontier(slot)));
  SLUICE_CHECK(log.sync());
  active.slots = {.newest = slot, .slot = place};
  return {};
}

// Everything in it was durable before its successor was created.
Result<void> seal_segment(storage::Storage& storage, const PlannedSegment& planned) {
  if (planned.slots.both_sealed) return {};
  const ByteVector seal = encode_frontier(seal_of(planned.segment.page.first_op, {planned.segment.end, planned.segment.bytes}));
  SLUICE_TRY(const storage::FilePtr log, storage.open(planned.path, storage::OpenMode::kReadWrite));
  for (std::size_t slot = 0; slot < kFrontierSlots; ++slot) {
    SLUICE_CHECK(log->write(frontier_position(slot), seal));
    SLUICE_CHECK(log->sync());
  }
  return {};
}

Result<void> create_first_segment(storage::Storage& storage, const LogOptions& options, RecoveryPlan& plan) {
  SLUICE_CHECK(storage.make_directories(options.directory));
  PlannedSegment first;
  first.segment.end = empty_head(options.group, options.incarnation);
  first.segment.page = page_after(first.segment.end, options.group, options.incarnation);
  first.segment.bytes = kSegmentPageBytes;
  first.path = options.directory + "/" + segment_name(first.segment.page.first_op);
  first.file_bytes = kSegmentPageBytes;
  first.slots.newest = first_frontier(first.segment, std::nullopt);
  SLUICE_TRY(const storage::FilePtr log, storage.open(first.path, storage::OpenMode::kCreateNew));
  SLUICE_CHECK(log->write(0, encode_first_page(first.segment.page, *first.slots.newest)));
  SLUICE_CHECK(log->sync());
  SLUICE_CHECK(write_index(storage, options, first));
  plan.segments.push_back(std::move(first));
  plan.report.created = true;
  plan.report.clean = true;
  return {};
}

}  // namespace

// A sync that failed leaves bytes that can be read, count as clean, and are not on the device: only what is written again gets there.
bool is_unproven(const PlannedSegment& active, const RecoveryReport& report) {
  // Once something in it is durable, a sync of the file has proved the page.
  const bool proved = report.clean && active.slots.newest->durable.position > kSegmentPageBytes && !report.fence_mark;
  return !active.page_missing && !report.created && !proved;
}

Result<RecoveredLog> commit_plan(storage::Storage& storage, const LogOptions& options, RecoveryPlan plan) {
  // Their reason to be is gone, whatever the plan does next; a staging file may even be in its way.
  for (const std::string& name : plan.stray_names) SLUICE_CHECK(storage.remove(options.directory + "/" + name));
  // Before the segment that is the last one now gets anything new.
  if (plan.truncated_segment) {
    SLUICE_CHECK(remove_segment_files(storage, options.directory, *plan.truncated_segment));
    plan.report.truncated_segment = options.directory + "/" + segment_name(*plan.truncated_segment);
  }
  if (plan.segments.empty()) SLUICE_CHECK(create_first_segment(storage, options, plan));
  PlannedSegment& active = plan.segments.back();
  if (active.page_missing) active.slots = {.newest = first_frontier(active.segment, plan.frontier)};

  RecoveredLog out;
  for (PlannedSegment& planned : plan.segments) {
    SLUICE_CHECK(mend_segment(storage, options, planned, plan.report));
    ++plan.report.segments;
    if (planned.segment.by_seal) {
      ++plan.report.segments_by_seal;
    } else {
      if (planned.segment.has_entries()) plan.report.entries += planned.segment.end.op - planned.segment.page.first_op + 1;
      plan.report.bytes_verified += planned.segment.bytes;
    }
    out.bytes_after_checkpoint += planned.bytes_after_checkpoint;
  }
  SLUICE_TRY(out.active_log, storage.open(active.path, storage::OpenMode::kReadWrite));
  SLUICE_TRY(out.active_index,
             storage.open(options.directory + "/" + index_name(active.segment.page.first_op), storage::OpenMode::kReadWrite));
  SLUICE_TRY(const std::uint64_t log_bytes, out.active_log->size());
  if (log_bytes != active.segment.bytes) {
    return fail(sluice::Errc::kInternal,
                fmt::format("{} has {} bytes where recovery left {}", active.path, log_bytes, active.segment.bytes));
  }
  if (!active.missing_index_entries.empty()) {
    ByteVector bytes;
    for (const IndexEntry& entry : active.missing_index_entries) encode_index_entry(bytes, entry);
    const std::size_t kept = active.segment.index.entries().size() - active.missing_index_entries.size();
    SLUICE_CHECK(out.active_index->write(kept * kIndexEntryBytes, bytes));
    plan.report.index_entries_added += active.missing_index_entries.size();
  }
  // The entries found here count as acknowledged from now on, also those that a killed process had written but not synced. So do names:
  // a process killed between creating a file and syncing the directory leaves one that only the cache knows.
  if (!SLUICE_MUTATED(kUnprovenNotRewritten)) SLUICE_CHECK(rewrite_unproven(*out.active_log, active, plan.report));
  if (!SLUICE_MUTATED(kFoundUnsynced)) SLUICE_CHECK(out.active_log->sync());
  SLUICE_CHECK(replace_lost_slot(*out.active_log, active, plan.frontier ? *plan.frontier : *active.slots.newest));
  if (!SLUICE_MUTATED(kFoundNamesUnsynced)) SLUICE_CHECK(storage.sync_directory(options.directory));
  for (std::size_t i = 0; i + 1 < plan.segments.size(); ++i) {
    const PlannedSegment& planned = plan.segments[i];
    if (options.replicated && i + 2 == plan.segments.size() && !planned.slots.sealed()) {
      SLUICE_TRY(out.unsealed_log, storage.open(planned.path, storage::OpenMode::kReadWrite));
      out.unsealed_slot = planned.slots.slot;
      continue;
    }
    SLUICE_CHECK(seal_segment(storage, planned));
  }
  if (plan.report.fence_mark) {
    SLUICE_CHECK(storage.remove(options.directory + "/" + kFencedName));
    SLUICE_CHECK(storage.sync_directory(options.directory));
  }

  out.frontier = *active.slots.newest;
  out.frontier_slot = active.slots.slot;
  for (PlannedSegment& planned : plan.segments) out.segments.push_back(std::move(planned.segment));
  out.checkpoint = std::move(plan.checkpoint);
  out.report = std::move(plan.report);
  return out;
}

Result<void> record_refusal(storage::Storage& storage, const LogOptions& options, const Error& refusal) {
  const auto& context = refusal.context();
  const bool recorded = std::any_of(context.begin(), context.end(), [](const auto& item) { return item.first == "marker"; });
  if (recorded || !is_lasting_refusal(refusal) || SLUICE_MUTATED(kRefusalForgotten)) return {};
  const std::string text = fmt::format(
      "{}\n{}\n\n{}\nThe files here were left as they are. `sluice log repair` shows what it could do; remove this file when they are "
      "repaired by other means.\n",
      refusal.code(), refusal.message(), refusal.explanation());
  return storage::replace_file(storage, options.directory, kRefusedName, as_bytes(text));
}

Result<RecoveredLog> recover(storage::Storage& storage, const LogOptions& options) {
  auto plan = judge(storage, options);
  if (plan) return commit_plan(storage, options, std::move(*plan));
  // A marker that cannot be written is no loss: the same bytes are refused again.
  if (auto written = record_refusal(storage, options, plan.error()); !written)
    return fail(std::move(plan).error().with("marker_not_written", written.error().message()));
  return fail(std::move(plan).error());
}

}  // namespace sluice::log
