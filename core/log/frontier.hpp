// SPDX-License-Identifier: Apache-2.0
// The frontier: what is known to be durable and what may have been acknowledged. docs/reference/log-format.md, "Frontier".
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/log/log_head.hpp"
#include "core/log/segment_page.hpp"

namespace sluice::log {

inline constexpr std::size_t kFrontierSlots = 2;
inline constexpr std::uint64_t kFrontierSlotBytes = 512;  // a sector: old or new after a crash, never a mixture
[[nodiscard]] constexpr std::uint64_t frontier_position(std::size_t slot) {
  return kFrontierSlotBytes * (slot + 1);
}
inline constexpr std::uint64_t kLimitBlock = 65'536;  // ops and offsets are reserved in multiples of it

// Nothing above it has been acknowledged: the newest op, and the offset after the last one.
struct Limit {
  Op op;
  Offset offset;

  [[nodiscard]] bool covers(const LogHead& head) const { return head.op <= op && head.next_offset <= offset; }
  friend bool operator==(const Limit&, const Limit&) = default;
};

// One slot.
struct Frontier {
  enum class Kind : std::uint8_t { kOpen = 1, kSealed = 2 };

  Kind kind = Kind::kOpen;
  std::uint64_t sequence = 0;  // the highest one counts; 0 in a seal
  std::uint64_t epoch = 0;     // counts truncations; 0 in a seal
  Op segment;                  // first op of the segment that the slot is in
  LogPoint durable;            // was durable before the slot was written
  Limit limit;

  // Nothing was acknowledged beyond what is durable: the log was closed, or nothing was appended yet.
  [[nodiscard]] bool is_clean() const { return limit == Limit{durable.head.op, durable.head.next_offset}; }
  friend bool operator==(const Frontier&, const Frontier&) = default;
};

// What both slots of a complete segment hold. It follows from the entries alone.
[[nodiscard]] Frontier seal_of(Op segment, const LogPoint& end);

[[nodiscard]] ByteVector encode_frontier(const Frontier& frontier);
// kFrontierSlotBytes of untrusted bytes; none if they are all zero. Errors: log.damaged_segment, log.newer_format.
[[nodiscard]] Result<std::optional<Frontier>> decode_frontier(Bytes bytes);

// The header page of a new segment with its first slot.
[[nodiscard]] ByteVector encode_first_page(const SegmentPage& page, const Frontier& frontier);

// The slots of one segment.
struct SegmentSlots {
  std::optional<Frontier> newest;  // a seal, if there is one
  std::size_t slot = 0;            // where the newest one is
  bool both_sealed = false;
  bool damaged = false;  // a slot has bytes that do not verify, or of another segment: the other one counts

  [[nodiscard]] bool sealed() const { return newest && newest->kind == Frontier::Kind::kSealed; }
};
// From the header page of the segment that begins at `segment`. Errors: log.newer_format.
[[nodiscard]] Result<SegmentSlots> read_slots(Bytes page, Op segment);

}  // namespace sluice::log
