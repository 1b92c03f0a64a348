// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/log/recovery_plan.hpp"

namespace sluice::log {

// BOUND for one segment: walks it from byte 0 with checksums, holds the index against what it met, and finds the verified end. Reads only.
struct SegmentCase {
  Op first_op;
  bool last = false;  // only the last segment may end in a tear
  bool has_index = false;
  Op checkpoint_op;      // 0 = none
  bool any_end = false;  // of any segment, for a repair: what would refuse the log only ends what verifies, and is its damage
};
[[nodiscard]] Result<PlannedSegment> judge_segment(storage::Storage& storage, const LogOptions& options, const SegmentCase& which);
// The same for a complete segment, from its page, its seal, its size and its index alone. None if these do not suffice: then it has to be
// walked, which also says what is wrong.
[[nodiscard]] Result<std::optional<PlannedSegment>> judge_by_seal(storage::Storage& storage, const LogOptions& options,
                                                                  const SegmentCase& which);

}  // namespace sluice::log
