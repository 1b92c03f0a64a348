// SPDX-License-Identifier: Apache-2.0
#include "core/node/disk_room.hpp"

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/errc.hpp"

namespace sluice::node {
namespace {

std::optional<Error> refusal_of(const DiskRoom& room, std::string_view what, std::uint64_t from) {
  return Error(log::Errc::kStorageFull, fmt::format("the file system of the data directory has {} bytes left; no {} are taken below {}",
                                                    room.space().free, what, from));
}

}  // namespace

DiskRoom::Advice DiskRoom::observe(const storage::Space& space) {
  free_.store(space.free, std::memory_order_relaxed);
  total_.store(space.total, std::memory_order_relaxed);
  if (space.total == 0) {
    level_.store(RoomLevel::kEnough, std::memory_order_relaxed);
    return Advice::kNone;
  }
  const std::uint64_t kept_back = holds_reserve() || SLUICE_MUTATED(kReserveForEverybody) ? 0 : reserve_bytes();
  const std::uint64_t free = space.free - std::min(space.free, kept_back);
  // Opened again with some more than it was closed with, so that it does not close at once.
  const std::uint64_t more = level() == RoomLevel::kEnough ? 0 : low_bytes() / 4;
  const RoomLevel found = free < full_bytes() ? RoomLevel::kFull : free < low_bytes() + more ? RoomLevel::kLow : RoomLevel::kEnough;
  level_.store(found, std::memory_order_relaxed);
  if (found == RoomLevel::kFull && holds_reserve()) return Advice::kGiveUpReserve;
  return found == RoomLevel::kEnough && !holds_reserve() ? Advice::kTakeReserve : Advice::kNone;
}

storage::Space DiskRoom::space() const {
  return {.free = free_.load(std::memory_order_relaxed), .total = total_.load(std::memory_order_relaxed)};
}

std::uint64_t DiskRoom::low_bytes() const {
  return std::min(kRoomLowBytesMax, total_.load(std::memory_order_relaxed) / kRoomLowFraction);
}

std::optional<Error> DiskRoom::refuses_messages() const {
  if (level() == RoomLevel::kEnough || SLUICE_MUTATED(kMessagesOnLowDisk)) return std::nullopt;
  return refusal_of(*this, "messages", low_bytes());
}

std::optional<Error> DiskRoom::refuses_operations() const {
  if (level() != RoomLevel::kFull || SLUICE_MUTATED(kOperationsOnFullDisk)) return std::nullopt;
  return refusal_of(*this, "offsets and commands", full_bytes());
}

}  // namespace sluice::node
