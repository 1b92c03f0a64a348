// SPDX-License-Identifier: Apache-2.0
// Looks at the room on the disk, and holds the reserve. Everything runs on the catalog's shard, or at the start; the file work on the I/O
// threads.
#include <utility>

#include <fmt/format.h>

#include "core/log/errc.hpp"
#include "core/node/node_impl.hpp"

namespace sluice::node {
namespace {

constexpr const char* kReserveName = "reserve";

}  // namespace

// [blocking]
Result<void> Node::Impl::look_at_room() {
  SLUICE_TRY(const storage::Space space, options.storage->space(directory.path()));
  const std::string path = fmt::format("{}/{}", directory.path(), kReserveName);
  switch (room.observe(space)) {
    case DiskRoom::Advice::kNone:
      break;
    case DiskRoom::Advice::kTakeReserve:
      SLUICE_CHECK(options.storage->take_room(path, room.reserve_bytes()));
      room.on_reserve(true);
      break;
    case DiskRoom::Advice::kGiveUpReserve:
      SLUICE_CHECK(options.storage->remove(path));
      room.on_reserve(false);
      break;
  }
  return {};
}

// A start that finds a reserve goes on with it, also on a full disk. [blocking]
void Node::Impl::begin_room() {
  const auto left = options.storage->open(fmt::format("{}/{}", directory.path(), kReserveName), storage::OpenMode::kRead);
  room.on_reserve(left.has_value());
  judge_room(look_at_room());
}

void Node::Impl::judge_room(const Result<void>& looked) {
  // Once each time: the next look is near.
  const bool failed = !looked;
  if (failed && !std::exchange(room_failed_, failed)) warn(Error(looked.error()).with("while", "looking at the room on the disk"));
  room_failed_ = failed;
  const RoomLevel before = std::exchange(room_level_, room.level());
  if (room_level_ <= before) return;
  const auto why = room_level_ == RoomLevel::kFull ? room.refuses_operations() : room.refuses_messages();
  if (why) warn(*why);
}

void Node::Impl::watch_room() {
  Shard& shard = shard_of(kMetadataGroup);
  shard.after(kRoomInterval, [this, &shard] {
    shard.io().submit([this] { return look_at_room(); },
                      [this](const Result<void>& looked) {
                        judge_room(looked);
                        watch_room();
                      });
  });
}

}  // namespace sluice::node
