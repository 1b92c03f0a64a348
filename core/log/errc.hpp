// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/error.hpp"

namespace sluice::log {

enum class Errc : std::uint8_t {
  // Refusals: judged at recovery, recorded in the directory, nothing is changed.
  kRefused,              // an earlier recovery refused; the marker says why
  kSurvivorPastDamage,   // a verified entry follows damaged bytes
  kUnverifiedResidue,    // the search for such an entry ran out of its budget
  kDamagedSegment,       // damage in a sealed segment or in a header page
  kHole,                 // ops, parents, offsets or timestamps do not continue
  kEmptyNonTailSegment,  // a segment without entries before the last one
  kForeignSegment,       // another group or incarnation, or a name that does not match
  kDamagedCheckpoint,
  kCheckpointPastHead,       // the log ends before its checkpoint
  kFsyncedLogLoss,           // bytes that were durable are gone or damaged
  kFsyncedRebuildShortfall,  // the same, and the index contradicts the log too
  kNewerFormat,
  kOlderFormat,
  // At run time.
  kDamagedEntry,  // a read met bytes that do not verify
  kScrubDamage,   // a scrub did
  kOutOfRange,    // below the first retained entry
  kFenced,        // a write or sync failed before; the message names the first fault
  kStorageFull,   // the write that failed met a full disk
  kStopped,
  kOutOfSequence,  // the appended entry does not follow the head
  kNotRepairable,  // nothing that a repair may do makes the log one that can be served
  kClockBehind,    // a warning: the newest entry is from the future
  kTruncated,      // the entry was removed by a truncation before it was reported
  kCommitted,      // a truncation would remove what is committed
  kUnknownEntry,   // the log does not hold the entry that the caller names
};
[[nodiscard]] const ErrorInfo& error_info(Errc code);

// Whether recovery refused: final for this directory until an operator acts, while other partitions start.
[[nodiscard]] bool is_refusal(const Error& error);
// Whether the refusal is recorded in the directory: another release may serve what this one does not know.
[[nodiscard]] bool is_lasting_refusal(const Error& error);
// The refusal of that name ("log.hole"); kRefused if there is none.
[[nodiscard]] Errc refusal_from_name(std::string_view name);

}  // namespace sluice::log
