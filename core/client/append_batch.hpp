// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/entry/batch.hpp"
#include "core/entry/record.hpp"
#include "core/partition/op.hpp"

namespace sluice::client {

// Whose request an append is, and which one: numbers are dense per client and partition, from 1. An append with the same identity and the
// same records is stored once, however often it is sent, also after a restart, and each time answered with where it is stored.
struct RequestId {
  ClientId client{};  // random, of one producer for all its life; not 0
  RequestNumber number{};
};

// A batch on its way into one partition. Records are encoded as they are added, so the caller's bytes are free after add().
// One owner, any thread, until it is given to append(). Limits: entry::kRecordBytesMax per record, entry::kEntryBytesMax in all.
class AppendBatch {
 public:
  // Errors: client::Errc::kRecordTooLarge, kBatchTooLarge (this record does not fit any more); the batch is unchanged then.
  [[nodiscard]] Result<void> add(const RecordView& record) { return builder_.add(record); }
  // The source's state after these records, stored in the same entry. `epoch` is that of begin_source(). A batch without records may carry
  // state alone. Errors: kStateTooLarge, and names that are too long; the batch is unchanged then.
  [[nodiscard]] Result<void> set_state(partition::SourceState state, Epoch epoch) {
    SLUICE_CHECK(partition::validate(state));
    state_ = partition::StateEnvelope{epoch, std::move(state)};
    return {};
  }
  // Such a batch carries records.
  void set_request(RequestId request) { request_ = request; }
  void reserve(std::size_t bytes) { builder_.reserve(bytes); }

  [[nodiscard]] std::uint32_t count() const { return builder_.count(); }
  [[nodiscard]] std::size_t size_bytes() const { return builder_.bytes(); }  // of the records, as they will be stored
  [[nodiscard]] bool has_state() const { return state_.has_value(); }

 private:
  friend class Client;
  entry::BatchBuilder builder_;
  std::optional<partition::StateEnvelope> state_;
  std::optional<RequestId> request_;
};

}  // namespace sluice::client
