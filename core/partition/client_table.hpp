// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace sluice::partition {

inline constexpr std::size_t kClientsMax = 1024;         // of one partition
inline constexpr std::size_t kOutcomesPerClientMax = 8;  // newest ones

// A request that was carried out: what it was and where it went.
struct RequestOutcome {
  RequestNumber request{};
  U128 body_checksum{};
  Op op{};
  Offset base_offset{};
  Offset next_offset{};
  friend bool operator==(const RequestOutcome&, const RequestOutcome&) = default;
};

// The producers of one partition and their last requests: what makes a repeated request harmless. judge() is asked before a request
// enters the log, record() is told of every one that is in it, so equal logs give equal tables. docs/reference/partition-format.md,
// "Client table".
class ClientTable {
 public:
  struct Client {
    RequestNumber last{};  // newest request
    Op newest_op{};        // of its entry; the client with the lowest one is forgotten first
    std::vector<RequestOutcome> outcomes{};
    friend bool operator==(const Client&, const Client&) = default;
  };

  // Nothing: the request is the next one. An outcome: it was carried out, and this is what came of it. Errors: partition.out_of_sequence,
  // partition.request_reuse, partition.duplicate_no_result, partition.producer_unknown.
  [[nodiscard]] Result<std::optional<RequestOutcome>> judge(ClientId client, RequestNumber request, U128 body_checksum) const;

  // A request in the log, with its outcome unless it was refused there. `op` is above that of every earlier call.
  void record(ClientId client, RequestNumber request, Op op, const std::optional<RequestOutcome>& outcome);

  [[nodiscard]] const Client* find(ClientId client) const;
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

  // The last section of a checkpoint.
  void encode(ByteWriter& writer) const;
  // Of a partition that stands at `last_op` and `next_offset`.
  [[nodiscard]] static Result<ClientTable> decode(ByteReader& reader, Op last_op, Offset next_offset);

  friend bool operator==(const ClientTable&, const ClientTable&) = default;

 private:
  void forget_oldest();

  std::map<ClientId, Client> clients_;
};

}  // namespace sluice::partition
