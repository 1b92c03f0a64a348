// SPDX-License-Identifier: Apache-2.0
#include "core/log/chain.hpp"

#include <fmt/format.h>

#include "core/base/mutation.hpp"

namespace sluice::log {

LogHead empty_head(GroupId group, Incarnation incarnation) {
  return {.op = Op{0}, .id = entry::root_identity(group, incarnation), .next_offset = Offset{0}, .last_timestamp = TimestampUs{0}};
}

LogHead head_before(const SegmentPage& page) {
  return {page.first_op - 1, page.parent, page.base_offset, page.last_timestamp};
}

SegmentPage page_after(const LogHead& head, GroupId group, Incarnation incarnation) {
  return {group, incarnation, head.op.next(), head.id, head.next_offset, head.last_timestamp};
}

Result<void> check_follows(const LogHead& head, const entry::EntryHeader& header) {
  if (header.op != head.op.next()) return fail(Errc::kHole, fmt::format("op {} follows op {}", header.op, head.op));
  if (header.parent != head.id && !SLUICE_MUTATED(kParentUnchecked))
    return fail(Errc::kHole, fmt::format("op {} names another parent than the entry before it", header.op));
  if (header.base_offset != head.next_offset && !SLUICE_MUTATED(kOffsetsUnchecked))
    return fail(Errc::kHole, fmt::format("op {} begins at offset {} where {} is next", header.op, header.base_offset, head.next_offset));
  if (header.base_timestamp <= head.last_timestamp && !SLUICE_MUTATED(kTimestampUnchecked)) {
    return fail(Errc::kHole,
                fmt::format("op {} has timestamp {}, which is not after {}", header.op, header.base_timestamp, head.last_timestamp));
  }
  return {};
}

}  // namespace sluice::log
