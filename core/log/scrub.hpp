// SPDX-License-Identifier: Apache-2.0
// What a start believes by the seal is looked at later, a little at a time. docs/reference/log-format.md, "Scrub".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/log/log_head.hpp"
#include "core/log/segment_page.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

// Where a scrub goes on.
struct ScrubPlace {
  Op segment;                  // its first op
  std::uint64_t position = 0;  // of the next entry; 0: nothing of the segment was looked at yet
  LogHead before;              // what that entry has to follow; of position 0, nothing
};

// What one step has found.
struct ScrubStep {
  ScrubPlace next;
  std::uint64_t bytes = 0;      // that were looked at
  bool at_end = false;          // of the segment: it is verified, or damaged, or was removed meanwhile
  std::optional<Error> damage;  // log.scrub_damage with segment and position
};

// A segment to which nothing is written any more, as its log knows it.
struct SealedSegment {
  std::string path;
  SegmentPage page;
  LogHead end;
  std::uint64_t bytes = 0;
};

// Holds the next `bytes_max` bytes of the segment, or one entry, against their checksums, against what comes before and against the seal.
// The first damage ends the segment; so does a part of it that the device cannot read. Reads only. Errors: base.no_space, when the process
// has no descriptor left, which says nothing about the segment. [blocking, any thread]
[[nodiscard]] Result<ScrubStep> scrub_segment(storage::Storage& storage, const SealedSegment& segment, const ScrubPlace& from,
                                              std::uint64_t bytes_max);

}  // namespace sluice::log
