// SPDX-License-Identifier: Apache-2.0
// A file system that fills up: docs/guides/durability.md, "When the disk is full".
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/base/result.hpp"
#include "core/storage/storage.hpp"

namespace sluice::node {

inline constexpr std::uint64_t kRoomLowBytesMax = 64ULL << 20;  // with less than this left no messages are taken
inline constexpr std::uint64_t kRoomLowFraction = 16;           // … or with less than this part of a small file system
inline constexpr std::chrono::milliseconds kRoomInterval{250};  // between two looks at it

// From the most to the least: each level refuses what the one before it does, and more.
enum class RoomLevel : std::uint8_t {
  kEnough,
  kLow,   // no messages
  kFull,  // nor offsets, nor state of sources, nor commands of the catalog, but for what makes room
};

// What the node may still write. Checkpoints, trims and deletions are never refused: they have the reserve, a file that is given up when
// the level is kFull and taken again when there is room for it. While it is not held, its bytes are not counted as free, so that nobody
// else gets them. State machine without I/O; observe() and on_reserve() from one thread at a time, the rest from any.
class DiskRoom {
 public:
  enum class Advice : std::uint8_t { kNone, kTakeReserve, kGiveUpReserve };

  // A file system that does not say how large it is never runs out of room here.
  [[nodiscard]] Advice observe(const storage::Space& space);
  void on_reserve(bool held) { held_.store(held, std::memory_order_relaxed); }

  [[nodiscard]] RoomLevel level() const { return level_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool holds_reserve() const { return held_.load(std::memory_order_relaxed); }
  [[nodiscard]] storage::Space space() const;
  [[nodiscard]] std::uint64_t low_bytes() const;
  [[nodiscard]] std::uint64_t full_bytes() const { return low_bytes() / 4; }
  [[nodiscard]] std::uint64_t reserve_bytes() const { return low_bytes() / 4; }

  // Why messages, or other operations, are not taken now: log.storage_full.
  [[nodiscard]] std::optional<Error> refuses_messages() const;
  [[nodiscard]] std::optional<Error> refuses_operations() const;

 private:
  std::atomic<std::uint64_t> free_{0};
  std::atomic<std::uint64_t> total_{0};
  std::atomic<RoomLevel> level_{RoomLevel::kEnough};
  std::atomic<bool> held_{false};
};

}  // namespace sluice::node
