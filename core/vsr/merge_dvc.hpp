// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/vsr/dvc.hpp"
#include "core/vsr/quorums.hpp"

namespace sluice::vsr {

enum class Verdict : std::uint8_t {
  kReady,           // the log of the new view is decided
  kAwaitingQuorum,  // too few reports
  kAwaitingMore,    // `op` may be committed and no report can provide it: another replica must report
  kDeadlocked,      // the same, and every replica has reported
  kConflict,        // the reports contradict each other at `op`: a promise was broken somewhere, and nothing may be decided
};

struct Outcome {
  Verdict verdict = Verdict::kAwaitingQuorum;
  Op op{};          // kAwaitingMore, kDeadlocked, kConflict: where
  View log_view{};  // from here on kReady: the newest log_view reported, whose log it is
  Op commit{};
  Op head{};
  // commit..head, or 1..head if nothing is committed. Points into one of the reports.
  std::span<const Header> headers{};
};

// Decides the log of a new view from at most one report per replica: it keeps every entry that may be committed and every other one that a
// report can provide, and ends below the first that is neither. Pure and bounded by reports × kPipelineMax; any well-formed reports
// have an outcome, and their order does not matter.
[[nodiscard]] Outcome merge_dvc(std::span<const Dvc> dvcs, Quorums quorums);

}  // namespace sluice::vsr
