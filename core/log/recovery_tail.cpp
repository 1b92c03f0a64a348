// SPDX-License-Identifier: Apache-2.0
// The end of the log. Below the frontier nothing may be missing; at or above it, after the operating system died, anything may.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/error_at.hpp"
#include "core/log/frontier_writer.hpp"
#include "core/log/recovery_plan.hpp"
#include "core/log/segment_reader.hpp"

namespace sluice::log {
namespace {

std::unexpected<Error> refuse_tail(Errc code, const PlannedSegment& segment, const std::string& why) {
  return fail(error_at(code, segment.path, segment.segment.bytes, why));
}

// The slots that count. A segment that was created gets its slot together with its page; until both are there, the segment before it
// counts. None if there is no segment yet.
Result<std::optional<SegmentSlots>> newest_slots(const std::vector<PlannedSegment>& segments) {
  const PlannedSegment& last = segments.back();
  if (!last.page_missing) {
    if (last.slots.sealed()) return refuse_tail(Errc::kHole, last, "the segment is complete, so there was a newer one: it is missing");
    if (!last.slots.newest) return refuse_tail(Errc::kDamagedSegment, last, "the segment holds entries, but no frontier slot verifies");
    return last.slots;
  }
  if (segments.size() == 1) return std::nullopt;
  const PlannedSegment& before = segments[segments.size() - 2];
  if (before.slots.sealed())
    return refuse_tail(Errc::kDamagedSegment, last, "the header page is gone, and it was whole when the segment before it was completed");
  if (!before.slots.newest) return refuse_tail(Errc::kDamagedSegment, before, "no frontier slot verifies");
  return before.slots;
}

// The slot that does not verify may be the one after the newest that does.
Limit limit_of_lost(const LogOptions& options, const Limit& known) {
  Limit out = after_largest_step(known);
  if (options.group == kMetadataGroup) out.offset = known.offset;  // it has no offsets
  return out;
}

// Whether a whole entry lies behind the damage. Errors: log.unverified_residue.
Result<bool> has_survivor(storage::Storage& storage, const LogOptions& options, const PlannedSegment& last) {
  if (!last.damage) return false;
  SLUICE_TRY(const storage::FilePtr file, storage.open(last.path, storage::OpenMode::kRead));
  const SurvivorSearch search{options.group, options.incarnation, last.segment.end.op, options.survivor_budget_bytes};
  SLUICE_TRY(const SurvivorResult found,
             find_survivor(*file, std::min(last.damage->search_from, last.file_bytes), last.file_bytes, search));
  if (found.exhausted && !SLUICE_MUTATED(kResidueServed)) {
    return refuse_tail(
        Errc::kUnverifiedResidue, last,
        fmt::format("{}, and {} bytes follow that could not all be searched", last.damage->what, last.file_bytes - last.segment.bytes));
  }
  return found.position.has_value() && !SLUICE_MUTATED(kSurvivorIgnored);
}

// Bytes that were durable do not verify, or are not there.
std::unexpected<Error> refuse_loss(storage::Storage& storage, const LogOptions& options, const PlannedSegment& last,
                                   const Frontier& frontier) {
  const std::string what = last.damage ? last.damage->what : "the segment ends here";
  const auto survivor = has_survivor(storage, options, last);
  if (!survivor) return fail(survivor.error());
  if (*survivor) return refuse_tail(Errc::kSurvivorPastDamage, last, fmt::format("{}, and a whole entry follows", what));
  const Errc code = last.index_contradicts ? Errc::kFsyncedRebuildShortfall : Errc::kFsyncedLogLoss;
  return refuse_tail(code, last,
                     fmt::format("{}, and op {} was durable up to byte {}", what, frontier.durable.head.op, frontier.durable.position));
}

bool reaches_witness(const LogOptions& options, const std::vector<PlannedSegment>& segments) {
  if (!options.witness) return SLUICE_MUTATED(kTrustWithoutWitness);
  if (SLUICE_MUTATED(kWitnessUnmatched)) return true;
  const Witness& witness = *options.witness;
  if (witness.op == segments.back().segment.end.op) return witness.id == segments.back().segment.end.id;
  if (witness.op.next() == segments.front().segment.page.first_op) return witness.id == segments.front().segment.page.parent;
  return std::any_of(segments.begin(), segments.end(), [&](const PlannedSegment& s) { return s.id_at_witness == witness.id; });
}

}  // namespace

// Only a truncation writes to a segment after its successor has got its first slot, other than seals.
Result<bool> is_truncated_away(storage::Storage& storage, const LogOptions& options, Op before, Op last) {
  std::array<SegmentSlots, 2> slots;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Op first_op = i == 0 ? before : last;
    SLUICE_TRY(const storage::FilePtr file, storage.open(options.directory + "/" + segment_name(first_op), storage::OpenMode::kRead));
    ByteVector page(kSegmentPageBytes);
    SLUICE_TRY(const std::size_t got, file->read(0, page));
    if (got < page.size()) return false;
    SLUICE_TRY(slots.at(i), read_slots(page, first_op));
    if (!slots.at(i).newest || slots.at(i).sealed()) return false;
  }
  return slots[0].newest->sequence > slots[1].newest->sequence && !SLUICE_MUTATED(kTruncatedComesBack);
}

Result<void> judge_tail(storage::Storage& storage, const LogOptions& options, RecoveryPlan& plan) {
  PlannedSegment& last = plan.segments.back();
  SLUICE_TRY(const std::optional<SegmentSlots> slots, newest_slots(plan.segments));
  RecoveryReport& report = plan.report;
  const LogHead& head = last.segment.end;
  report.doubtful_to = head.op;
  if (!slots) {
    report.clean = true;
    return {};
  }
  report.slot_lost = slots->damaged;
  report.clean = slots->newest->is_clean() && !report.slot_lost;
  plan.frontier = slots->newest;
  if (report.slot_lost && !SLUICE_MUTATED(kLostSlotIgnored)) plan.frontier->limit = limit_of_lost(options, plan.frontier->limit);
  const Frontier& frontier = *plan.frontier;
  const bool is_here = frontier.segment == last.segment.page.first_op;
  if (is_here && last.segment.bytes < frontier.durable.position && !SLUICE_MUTATED(kLossBelowFrontierServed))
    return refuse_loss(storage, options, last, frontier);
  report.trusted = reaches_witness(options, plan.segments);
  if (last.damage) {
    SLUICE_TRY(const storage::FilePtr file, storage.open(last.path, storage::OpenMode::kRead));
    SLUICE_TRY(const bool zeros, is_zero_range(*file, last.segment.bytes, last.file_bytes));
    last.set_aside_tail = !zeros;
    last.tail_reason = zeros ? "zeros" : last.damage->what;
    // Only the process died, so what it wrote is there in its order: a whole entry behind a damaged one is not the work of a crash.
    if (!zeros && report.trusted && !report.clean) {
      SLUICE_TRY(const bool survivor, has_survivor(storage, options, last));
      if (survivor) return refuse_tail(Errc::kSurvivorPastDamage, last, fmt::format("{}, and a whole entry follows", last.damage->what));
    }
  }
  if (report.clean || report.trusted) return {};
  report.doubtful_to = std::max(head.op, frontier.limit.op);
  if (frontier.limit.offset > head.next_offset && !SLUICE_MUTATED(kOffsetsGivenOutTwice)) report.mint_from = frontier.limit.offset;
  return {};
}

}  // namespace sluice::log
