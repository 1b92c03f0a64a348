// SPDX-License-Identifier: Apache-2.0
#include "core/vsr/merge_dvc.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/base/mutation.hpp"

namespace sluice::vsr {
namespace {

enum class Claim : std::uint8_t { kCopy, kNack, kAbstain };

// What a report says of an entry of the canonical log.
Claim claim_of(const Dvc& dvc, const Header& entry) {
  // Whoever acknowledges an entry is at that time in its view or a later one, and has that as a durable log_view.
  if (dvc.log_view < entry.view) return Claim::kNack;
  if (entry.op > dvc.op) return entry.op > dvc.doubtful_to || SLUICE_MUTATED(kVsrAbsentIsNack) ? Claim::kNack : Claim::kAbstain;
  if (!dvc.covers(entry.op)) return Claim::kAbstain;
  // Had it acknowledged the one, a later view must have decided against it before the other took the place.
  if (dvc.header(entry.op).id != entry.id) return Claim::kNack;
  const std::size_t at = dvc.index_of(entry.op);
  if (dvc.present[at]) return Claim::kCopy;
  return dvc.nack[at] ? Claim::kNack : Claim::kAbstain;
}

// Of the reports with the newest log_view, the one that knows most.
const Dvc& best_of(std::span<const Dvc> dvcs) {
  return *std::ranges::max_element(dvcs, [](const Dvc& a, const Dvc& b) {
    return a.log_view != b.log_view && !SLUICE_MUTATED(kVsrLongestLogWins) ? a.log_view < b.log_view : a.op < b.op;
  });
}

// Where a report contradicts the canonical log: what is committed is in it, and all logs of its view are the same as far as they go.
std::optional<Op> contradiction(const Dvc& dvc, const Dvc& best) {
  const auto differs = [&](Op at) { return dvc.covers(at) && best.covers(at) && dvc.header(at).id != best.header(at).id; };
  if (differs(dvc.commit)) return dvc.commit;
  if (dvc.log_view == best.log_view && differs(dvc.op)) return dvc.op;
  return std::nullopt;
}

struct Tally {
  std::size_t copies = 0;
  std::size_t nacks = 0;
};
Tally tally(std::span<const Dvc> dvcs, const Header& entry) {
  Tally sum;
  for (const Dvc& dvc : dvcs) {
    const Claim claim = claim_of(dvc, entry);
    sum.copies += claim == Claim::kCopy ? 1 : 0;
    sum.nacks += claim == Claim::kNack ? 1 : 0;
  }
  return sum;
}

}  // namespace

Outcome merge_dvc(std::span<const Dvc> dvcs, Quorums quorums) {
  if (dvcs.size() + (SLUICE_MUTATED(kVsrMergesFewer) ? 1 : 0) < quorums.view_change()) return {};
  const Dvc& best = best_of(dvcs);
  Outcome outcome{.log_view = best.log_view};
  Op last = best.op;  // of the canonical log, as far as anyone with it can tell
  for (const Dvc& dvc : dvcs) {
    if (dvc.log_view == best.log_view) last = std::max(last, dvc.doubtful_to);
  }
  std::optional<Op> broken;
  for (const Dvc& dvc : dvcs) {
    const auto at = dvc.commit > last ? dvc.commit : contradiction(dvc, best);
    if (at && (!broken || *at < *broken)) broken = at;
    outcome.commit = std::max(outcome.commit, dvc.commit);
  }
  if (broken) return {.verdict = Verdict::kConflict, .op = *broken};
  const Verdict unavailable = dvcs.size() == quorums.count() ? Verdict::kDeadlocked : Verdict::kAwaitingMore;
  // Committed, and lost by the one that had it: only the others that have it can provide it.
  if (outcome.commit > best.op) return {.verdict = unavailable, .op = best.op.next()};
  outcome.head = outcome.commit;
  while (outcome.head < best.op) {
    const Tally sum = tally(dvcs, best.header(outcome.head.next()));
    if (sum.copies == 0 && sum.nacks < quorums.nack() && !SLUICE_MUTATED(kVsrDropsWithoutProof))
      return {.verdict = unavailable, .op = outcome.head.next()};
    if (sum.copies == 0) break;
    outcome.head = outcome.head.next();
  }
  if (outcome.head == best.op) {
    // What nobody here knows of was first prepared in the newest log's own view. The op after the head is the one most may have had.
    const Header unknown{.op = best.op.next(), .view = best.log_view, .id = {}, .parent = {}};
    if (tally(dvcs, unknown).nacks < quorums.nack()) return {.verdict = unavailable, .op = unknown.op};
  }
  if (outcome.head > Op(0)) {
    const Op first = std::max(outcome.commit, Op(1));
    outcome.headers = best.headers.subspan(best.index_of(first), static_cast<std::size_t>(outcome.head - first) + 1);
  }
  outcome.verdict = Verdict::kReady;
  return outcome;
}

}  // namespace sluice::vsr
