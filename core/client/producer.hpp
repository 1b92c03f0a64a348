// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/clock.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/client/client.hpp"
#include "core/client/producer_queue.hpp"

namespace sluice::client {

struct ProducerOptions {
  ProducerLimits limits{};
  // Who writes, and the number of its first request in this partition. A producer that goes on where another one ended, after a restart of
  // the node too, takes its id and writes the same records under the same numbers again: what is there already is not stored twice.
  std::optional<ClientId> client{};  // default: a fresh one, and another one if the partition has forgotten it
  RequestNumber first_request{1};
  const Clock* clock = &system_clock();
};

// Stores many small sends as few entries of one partition: in their order, each once. `limits` bounds what it holds: the bytes of a send
// count until the write of its batch has completed. (While that runs, the log has a copy, which counts towards node::kPendingBytesMax.) A
// batch that is refused for the moment is tried again; one that fails for good stops the producer, because what comes after it must not be
// stored without it. Thread-safe, but not for a shard's threads. Owned by whoever sends; goes before its Client.
class Producer {
 public:
  Producer(Client& client, PartitionRef partition, ProducerOptions options = {});
  // Answers what is not being written with base.cancelled. What is being written is answered later.
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // Takes a copy of the records, which are stored in one entry, and waits for room first if there is none. `done` is answered exactly once,
  // as by Client::append, and must not call the producer. Errors beside those: client.exceeds_buffer, base.timeout if there was no room for
  // kOperationDeadline, and what stopped the producer.
  void send(std::span<const RecordView> records, Completion<AppendResult> done);
  // The same, and client.buffer_full instead of a wait.
  void try_send(std::span<const RecordView> records, Completion<AppendResult> done);
  // Ends every linger and waits until all sends are answered. Errors: what stopped the producer, base.timeout.
  [[nodiscard]] Result<void> flush(std::chrono::milliseconds deadline = kOperationDeadline);

  [[nodiscard]] bool stopped() const;
  [[nodiscard]] std::uint64_t held_bytes() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with the answers that are still to come
};

}  // namespace sluice::client
