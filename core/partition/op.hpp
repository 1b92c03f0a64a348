// SPDX-License-Identifier: Apache-2.0
// The operations of a partition group other than messages: bodies of its kPartitionOp entries, and the state section of a batch.
// Byte layout: docs/reference/partition-format.md.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/partition/position.hpp"

namespace sluice::partition {

// Version of ops and state envelopes. A reader takes every version up to this one and refuses a newer one with both numbers.
inline constexpr std::uint16_t kFormatVersion = 1;

// Raises the epoch of a consumer group by one. `start` is used if the group is new here.
struct BeginAssignment {
  std::string group{};
  Offset start{};
  friend bool operator==(const BeginAssignment&, const BeginAssignment&) = default;
};
struct CommitOffset {
  std::string group{};
  Epoch epoch{};
  Offset committed_next{};
  Accounting accounting{};  // all of it since the start offset
  friend bool operator==(const CommitOffset&, const CommitOffset&) = default;
};
// Raises the epoch of a source by one.
struct BeginSource {
  std::string connector{};
  friend bool operator==(const BeginSource&, const BeginSource&) = default;
};
// Everything below `floor` may go.
struct Trim {
  Offset floor{};
  friend bool operator==(const Trim&, const Trim&) = default;
};
// What the last section of a batch holds: who wrote it, in which tenure. Alone, as an op, if there are no records to go with it.
struct StateEnvelope {
  Epoch epoch{};
  SourceState state{};
  friend bool operator==(const StateEnvelope&, const StateEnvelope&) = default;
};
using PartitionOp = std::variant<BeginAssignment, CommitOffset, BeginSource, Trim, StateEnvelope>;

[[nodiscard]] ByteVector encode(const PartitionOp& op);
// Checks shape and version, not meaning: apply does that.
[[nodiscard]] Result<PartitionOp> decode_op(Bytes bytes);

// Errors: partition.invalid_name, partition.state_too_large.
[[nodiscard]] Result<void> validate(const SourceState& state);
[[nodiscard]] ByteVector encode_envelope(const StateEnvelope& envelope);
[[nodiscard]] Result<StateEnvelope> decode_envelope(Bytes bytes);

// The parts that ops, envelopes and checkpoints share.
void encode(ByteWriter& writer, const Accounting& accounting);
[[nodiscard]] std::optional<Accounting> decode_accounting(ByteReader& reader);

}  // namespace sluice::partition
