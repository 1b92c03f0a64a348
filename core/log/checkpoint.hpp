// SPDX-License-Identifier: Apache-2.0
// The checkpoint of a group's state beside its log. docs/reference/log-format.md, "Checkpoint file".
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace sluice::log {

inline constexpr const char* kCheckpointName = "checkpoint";
inline constexpr std::size_t kCheckpointBodyBytesMax = 256u << 20;
inline constexpr std::uint64_t kCheckpointFileBytesMax = kCheckpointBodyBytesMax + 4096;

// The state after applying every entry up to and including `op`. The body belongs to core/partition or core/metadata.
struct Checkpoint {
  GroupId group;
  Incarnation incarnation;
  Op op;
  U128 id;  // identity of the entry at op
  Offset next_offset;
  ByteVector body;
};

[[nodiscard]] ByteVector encode_checkpoint(const Checkpoint& checkpoint);
// Untrusted bytes. Errors: log.damaged_checkpoint, log.newer_format.
[[nodiscard]] Result<Checkpoint> decode_checkpoint(Bytes bytes);

}  // namespace sluice::log
