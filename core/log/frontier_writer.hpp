// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/mutation.hpp"
#include "core/entry/limits.hpp"
#include "core/log/frontier.hpp"

namespace sluice::log {

inline constexpr std::uint64_t kLimitBlocksMax = 64;  // that one reservation takes
inline constexpr std::uint64_t kEntryOffsetsMax = entry::kEntryBytesMax / entry::kMessageHeaderBytes;
// A limit lies at most this far above the one before it: the entries of one flush, and the blocks of one reservation, rounded up.
inline constexpr std::uint64_t kLimitStepMax = kEntryOffsetsMax + (kLimitBlocksMax + 1) * kLimitBlock;
// What the limit in the slot after one with `limit` can be at most.
[[nodiscard]] Limit after_largest_step(const Limit& limit);

// What the slots of the active segment hold, and what the next one will. A slot is written over the older one, so that the newest durable
// one stays until the sync of the next has succeeded; one whose flush did not happen is written again in its place. Value, one owner.
class FrontierWriter {
 public:
  struct Slot {
    Frontier frontier;
    std::size_t slot = 0;
    ByteVector bytes;

    [[nodiscard]] std::uint64_t position() const { return frontier_position(slot); }
  };

  // `newest` is durable in `slot`.
  FrontierWriter(const Frontier& newest, std::size_t slot) : newest_(newest), slot_(slot), sequence_(newest.sequence) {}

  // For the flush that begins now.
  [[nodiscard]] Slot next(const LogPoint& durable, const Limit& limit) {
    return make(newest_.segment, SLUICE_MUTATED(kSlotOverwritten) ? slot_ : 1 - slot_, newest_.epoch, durable, limit);
  }
  // The first slot of the page of a new segment.
  [[nodiscard]] Slot first_of(Op segment, const LogPoint& durable) {
    return make(segment, 0, newest_.epoch, durable,
                {std::max(newest_.limit.op, durable.head.op), std::max(newest_.limit.offset, durable.head.next_offset)});
  }
  // Of a truncation, in the segment that becomes or stays the active one and whose newest slot is `newest`.
  [[nodiscard]] Slot truncation(Op segment, std::size_t newest, const LogPoint& durable, const Limit& limit) {
    return make(segment, 1 - newest, newest_.epoch + 1, durable, limit);
  }
  // Its sync succeeded.
  void on_durable(const Slot& slot) {
    newest_ = slot.frontier;
    slot_ = slot.slot;
  }

  // In force: what may be acknowledged.
  [[nodiscard]] const Limit& limit() const { return newest_.limit; }
  [[nodiscard]] const Frontier& newest() const { return newest_; }
  [[nodiscard]] std::size_t newest_slot() const { return slot_; }

  // The limit that a flush up to `head` writes: half a reservation beyond it at least, in whole blocks, so that it moves rarely. Offsets
  // are not reserved in a log that has none.
  [[nodiscard]] Limit limit_for(const LogHead& head) const;
  // An append had to wait for a reservation: the next ones are larger.
  void widen() { blocks_ = blocks_ * 2 > kLimitBlocksMax ? kLimitBlocksMax : blocks_ * 2; }

 private:
  [[nodiscard]] Slot make(Op segment, std::size_t slot, std::uint64_t epoch, const LogPoint& durable, const Limit& limit);
  [[nodiscard]] std::uint64_t raised(std::uint64_t limit, std::uint64_t needed) const;

  Frontier newest_;
  std::size_t slot_;
  std::uint64_t sequence_;  // of the newest one made
  std::uint64_t blocks_ = 1;
};

}  // namespace sluice::log
