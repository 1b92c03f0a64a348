// SPDX-License-Identifier: Apache-2.0
#include "core/partition/client_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/partition/errc.hpp"

namespace sluice::partition {
namespace {

std::unexpected<Error> malformed_clients(std::string_view what) {
  return fail(Errc::kMalformed, fmt::format("partition checkpoint: {}", what));
}

std::optional<RequestOutcome> decode_outcome(ByteReader& reader) {
  const auto request = reader.get<std::uint64_t>();
  const auto checksum = reader.get_u128();
  const auto op = reader.get<std::uint64_t>();
  const auto base = reader.get<std::uint64_t>();
  const auto next = reader.get<std::uint64_t>();
  if (!next) return std::nullopt;
  return RequestOutcome{RequestNumber(*request), *checksum, Op(*op), Offset(*base), Offset(*next)};
}

// Ascending requests and ops, up to the client's newest.
bool may_follow(const RequestOutcome& outcome, const ClientTable::Client& client) {
  const bool ascending = client.outcomes.empty()
                             ? outcome.request.value() != 0 && outcome.op.value() != 0
                             : client.outcomes.back().request < outcome.request && client.outcomes.back().op < outcome.op;
  return ascending && outcome.request <= client.last && outcome.op <= client.newest_op && outcome.base_offset <= outcome.next_offset;
}

Result<std::pair<ClientId, ClientTable::Client>> decode_client(ByteReader& reader, Op last_op, Offset next_offset) {
  const auto id = reader.get_u128();
  const auto last = reader.get<std::uint64_t>();
  const auto newest_op = reader.get<std::uint64_t>();
  const auto count = reader.get<std::uint8_t>();
  if (!count || *count > kOutcomesPerClientMax || *newest_op == 0 || Op(*newest_op) > last_op) {
    return malformed_clients("a client is damaged or cut short");
  }
  std::pair out(*id, ClientTable::Client{RequestNumber(*last), Op(*newest_op), {}});
  for (std::uint8_t i = 0; i < *count; ++i) {
    const auto outcome = decode_outcome(reader);
    if (!outcome || !may_follow(*outcome, out.second) || outcome->next_offset > next_offset) {
      return malformed_clients("the outcome of a client's request is damaged or cut short");
    }
    out.second.outcomes.push_back(*outcome);
  }
  return out;
}

}  // namespace

Result<std::optional<RequestOutcome>> ClientTable::judge(ClientId client, RequestNumber request, U128 body_checksum) const {
  const Client* known = find(client);
  if (known == nullptr && request != RequestNumber(1) && !SLUICE_MUTATED(kUnknownProducerTaken)) {
    return fail(Errc::kProducerUnknown, fmt::format("producer {} sent request {} and is not known here", to_hex(client), request));
  }
  if (known != nullptr && request <= known->last && SLUICE_MUTATED(kRequestTakenTwice)) return std::nullopt;
  const RequestNumber next = known == nullptr ? RequestNumber(1) : known->last.next();
  if (request == next || (request > next && SLUICE_MUTATED(kRequestGapTaken))) return std::nullopt;
  if (request > next || request.value() == 0) {
    return fail(Errc::kOutOfSequence, fmt::format("producer {} sent request {}, the next one is {}", to_hex(client), request, next));
  }
  const auto outcome = std::ranges::find(known->outcomes, request, &RequestOutcome::request);
  if (outcome == known->outcomes.end()) {
    return fail(Errc::kDuplicateNoResult,
                fmt::format("producer {} sent request {} before, its last one is {}", to_hex(client), request, known->last));
  }
  if (outcome->body_checksum != body_checksum && !SLUICE_MUTATED(kRequestReuseTaken)) {
    return fail(Errc::kRequestReuse,
                fmt::format("producer {} sent other bytes as request {}, which is op {}", to_hex(client), request, outcome->op));
  }
  return *outcome;
}

void ClientTable::record(ClientId client, RequestNumber request, Op op, const std::optional<RequestOutcome>& outcome) {
  if (!clients_.contains(client) && clients_.size() >= kClientsMax) forget_oldest();
  Client& known = clients_[client];
  known.newest_op = op;
  if (request <= known.last) return;
  known.last = request;
  if (!outcome) return;
  if (known.outcomes.size() == kOutcomesPerClientMax) known.outcomes.erase(known.outcomes.begin());
  known.outcomes.push_back(*outcome);
}

void ClientTable::forget_oldest() {
  clients_.erase(std::ranges::min_element(clients_, {}, [](const auto& item) { return item.second.newest_op; }));
}

const ClientTable::Client* ClientTable::find(ClientId client) const {
  const auto found = clients_.find(client);
  return found == clients_.end() ? nullptr : &found->second;
}

void ClientTable::encode(ByteWriter& writer) const {
  writer.put(narrow<std::uint32_t>(clients_.size()));
  for (const auto& [id, client] : clients_) {
    writer.put(id);
    writer.put(client.last.value());
    writer.put(client.newest_op.value());
    writer.put(narrow<std::uint8_t>(client.outcomes.size()));
    for (const RequestOutcome& outcome : client.outcomes) {
      writer.put(outcome.request.value());
      writer.put(outcome.body_checksum);
      writer.put(outcome.op.value());
      writer.put(outcome.base_offset.value());
      writer.put(outcome.next_offset.value());
    }
  }
}

Result<ClientTable> ClientTable::decode(ByteReader& reader, Op last_op, Offset next_offset) {
  const auto count = reader.get<std::uint32_t>();
  if (!count || *count > kClientsMax) return malformed_clients("cut short, or more clients than are allowed");
  ClientTable table;
  for (std::uint32_t i = 0; i < *count; ++i) {
    SLUICE_TRY(auto client, decode_client(reader, last_op, next_offset));
    if (!table.clients_.empty() && table.clients_.rbegin()->first >= client.first) return malformed_clients("clients are out of order");
    table.clients_.insert(std::move(client));
  }
  return table;
}

}  // namespace sluice::partition
