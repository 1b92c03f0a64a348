// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/log/errc.hpp"
#include "core/log/log_head.hpp"
#include "core/log/segment_page.hpp"

namespace sluice::log {

[[nodiscard]] LogHead empty_head(GroupId group, Incarnation incarnation);
// The head before the first entry of the segment.
[[nodiscard]] LogHead head_before(const SegmentPage& page);
[[nodiscard]] SegmentPage page_after(const LogHead& head, GroupId group, Incarnation incarnation);
[[nodiscard]] inline LogHead head_after(const entry::EntryHeader& header) {
  return {header.op, header.identity, header.next_offset, header.base_timestamp};
}

// Whether the entry is the one after `head`: op, parent, offset and timestamp. Errors: log.hole.
[[nodiscard]] Result<void> check_follows(const LogHead& head, const entry::EntryHeader& header);

}  // namespace sluice::log
