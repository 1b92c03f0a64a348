// SPDX-License-Identifier: Apache-2.0
// The first 4 KiB of a segment file. docs/reference/log-format.md, "Segment header page".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace sluice::log {

inline constexpr std::uint64_t kSegmentPageBytes = 4096;  // entries start here
inline constexpr std::uint32_t kSegmentVersion = 2;

// Its first 512 bytes, which follow from the entries before the segment; the frontier's slots come after them, see frontier.hpp.
struct SegmentPage {
  GroupId group;
  Incarnation incarnation;
  Op first_op;
  U128 parent;                 // identity of the entry before first_op, or the root identity
  Offset base_offset;          // next_offset of the entry before
  TimestampUs last_timestamp;  // base timestamp of the entry before, 0 if there is none

  friend bool operator==(const SegmentPage&, const SegmentPage&) = default;
};

[[nodiscard]] ByteVector encode_segment_page(const SegmentPage& page);
// Untrusted bytes, kSegmentPageBytes of them; the frontier's slots are not looked at. Errors: log.damaged_segment, log.newer_format,
// log.older_format.
[[nodiscard]] Result<SegmentPage> decode_segment_page(Bytes bytes);

// "{first_op:020}.log" and "{first_op:020}.index".
[[nodiscard]] std::string segment_name(Op first_op);
[[nodiscard]] std::string index_name(Op first_op);
// The op in a name with that ending (".log", ".index"); none if it has another shape.
[[nodiscard]] std::optional<Op> parse_segment_name(std::string_view name, std::string_view ending);

}  // namespace sluice::log
