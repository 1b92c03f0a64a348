// SPDX-License-Identifier: Apache-2.0
#include "core/log/frontier_writer.hpp"

#include <limits>

namespace sluice::log {

Limit after_largest_step(const Limit& limit) {
  const auto raise = [](std::uint64_t value) { return value + std::min(kLimitStepMax, std::numeric_limits<std::uint64_t>::max() - value); };
  return {Op{raise(limit.op.value())}, Offset{raise(limit.offset.value())}};
}

FrontierWriter::Slot FrontierWriter::make(Op segment, std::size_t slot, std::uint64_t epoch, const LogPoint& durable, const Limit& limit) {
  Slot out;
  out.frontier = {
      .kind = Frontier::Kind::kOpen, .sequence = ++sequence_, .epoch = epoch, .segment = segment, .durable = durable, .limit = limit};
  out.slot = slot;
  out.bytes = encode_frontier(out.frontier);
  return out;
}

std::uint64_t FrontierWriter::raised(std::uint64_t limit, std::uint64_t needed) const {
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  if (needed > kEnd - 2 * kLimitBlocksMax * kLimitBlock) return kEnd;
  // Half of a reservation is left when the next one is made: larger ones begin earlier, and so have the time that the small ones lacked.
  if (needed + blocks_ * kLimitBlock / 2 <= limit) return limit;
  return round_up(needed + kLimitBlock / 2, kLimitBlock) + (blocks_ - 1) * kLimitBlock;
}

Limit FrontierWriter::limit_for(const LogHead& head) const {
  Limit out = limit();
  out.op = Op{raised(out.op.value(), head.op.value())};
  if (head.next_offset != Offset{0}) out.offset = Offset{raised(out.offset.value(), head.next_offset.value())};
  return out;
}

}  // namespace sluice::log
