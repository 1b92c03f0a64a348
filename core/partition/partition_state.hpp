// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/partition/client_table.hpp"
#include "core/partition/op.hpp"
#include "core/partition/position.hpp"

namespace sluice::partition {

// What a partition group keeps beside its records: positions of consumer groups with their accounting, epochs and newest states of
// sources, the last requests of producers, the trim floor, and where its log stands. Deterministic: the same entries give the same state,
// from the log or from a checkpoint and the entries after it. Owned by the partition's shard; not thread-safe.
class PartitionState {
 public:
  // Applies the next committed entry. An op that the rules forbid (fenced, backwards, accounting mismatch …) is an error of kind
  // conflict, not found or invalid input: it changes nothing but the log position, here and at every replay. A body that cannot be read
  // is an error of kind corrupt or give up, and nothing may be applied after it.
  Result<void> apply(const entry::EntryView& entry);

  // What apply() of this op would say now.
  [[nodiscard]] Result<void> check(const PartitionOp& op) const;

  [[nodiscard]] Op last_op() const { return last_op_; }
  [[nodiscard]] U128 last_identity() const { return last_identity_; }  // of the entry last_op(); undefined if there is none
  [[nodiscard]] Offset next_offset() const { return next_offset_; }
  [[nodiscard]] Offset floor_offset() const { return floor_offset_; }  // everything below is trimmed
  [[nodiscard]] TimestampUs last_timestamp() const { return last_timestamp_; }
  [[nodiscard]] const std::map<std::string, GroupPosition, std::less<>>& consumers() const { return consumers_; }
  [[nodiscard]] const std::map<std::string, SourcePosition, std::less<>>& sources() const { return sources_; }
  [[nodiscard]] const ClientTable& clients() const { return clients_; }
  [[nodiscard]] const GroupPosition* consumer(std::string_view group) const;
  [[nodiscard]] const SourcePosition* source(std::string_view connector) const;

  // Without a checksum: the checkpoint's file has one.
  [[nodiscard]] ByteVector encode_checkpoint() const;
  [[nodiscard]] static Result<PartitionState> decode_checkpoint(Bytes bytes);

  friend bool operator==(const PartitionState&, const PartitionState&) = default;

 private:
  Result<void> apply_body(const entry::EntryView& entry);
  [[nodiscard]] Result<void> check_commit(const CommitOffset& commit) const;
  Result<void> apply_op(const PartitionOp& op);
  [[nodiscard]] Result<void> check_state(const StateEnvelope& envelope) const;
  Result<void> store_state(StateEnvelope envelope);

  Op last_op_;
  U128 last_identity_;
  Offset next_offset_;
  Offset floor_offset_;
  TimestampUs last_timestamp_;
  std::map<std::string, GroupPosition, std::less<>> consumers_;
  std::map<std::string, SourcePosition, std::less<>> sources_;
  ClientTable clients_;
};

}  // namespace sluice::partition
