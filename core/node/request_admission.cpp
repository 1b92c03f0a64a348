// SPDX-License-Identifier: Apache-2.0
#include "core/node/request_admission.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/mutation.hpp"
#include "core/partition/errc.hpp"

namespace sluice::node {

bool RequestAdmission::is_next(const partition::ClientTable& applied, const entry::EntryHeader& request, ProposeDone& done) {
  const auto refuse = [&](partition::Errc code, std::string_view why) {
    done(fail(code, fmt::format("producer {} sent request {}, {}", to_hex(request.client), request.request, why)));
    return false;
  };
  if (const auto found = under_way_.find(request.client); found != under_way_.end()) {
    Client& client = found->second;
    const RequestNumber next = client.first + client.requests.size();
    if (request.request == next || SLUICE_MUTATED(kRequestUnderWayTwice)) return true;
    if (request.request > next) return refuse(partition::Errc::kOutOfSequence, fmt::format("the next one is {}", next));
    if (request.request >= client.first) {
      Request& first = client.requests[request.request - client.first];
      if (first.body_checksum != request.body_checksum) {
        return refuse(partition::Errc::kRequestReuse, "which is under way with other bytes");
      }
      first.repeats.push_back(std::move(done));
      return false;
    }
    // Of a client with requests under way that others have pushed out of the table, even request 1 is not a new one.
    if (applied.find(request.client) == nullptr) {
      return refuse(partition::Errc::kDuplicateNoResult, fmt::format("request {} is under way", client.first));
    }
  }
  const auto judged = applied.judge(request.client, request.request, request.body_checksum);
  if (judged && !*judged) return true;
  if (judged) {
    done(Proposed{(*judged)->op, (*judged)->base_offset, (*judged)->next_offset});
  } else {
    done(fail(judged.error()));
  }
  return false;
}

ProposeDone RequestAdmission::begin(const entry::EntryHeader& request, ProposeDone done) {
  Client& client = under_way_[request.client];
  if (client.requests.empty()) client.first = request.request;
  client.requests.push_back({request.body_checksum});
  return [this, id = request.client, number = request.request, done = std::move(done)](Result<Proposed> outcome) mutable {
    std::vector<ProposeDone> repeats = finish(id, number);
    done(outcome);
    for (ProposeDone& repeat : repeats) repeat(outcome);
  };
}

// Answers come in the order of the log; only the newest one may be refused at once while others are under way.
std::vector<ProposeDone> RequestAdmission::finish(ClientId id, RequestNumber number) {
  const auto found = under_way_.find(id);
  SLUICE_ASSERT(found != under_way_.end(), "request {} was not begun", number);
  Client& client = found->second;
  const bool oldest = number == client.first;
  SLUICE_ASSERT(oldest || number == client.first + (client.requests.size() - 1), "request {} first {}", number, client.first);
  std::vector<ProposeDone> repeats = std::move(oldest ? client.requests.front() : client.requests.back()).repeats;
  if (oldest) {
    client.requests.pop_front();
    client.first = number.next();
  } else {
    client.requests.pop_back();
  }
  if (client.requests.empty()) under_way_.erase(found);
  return repeats;
}

}  // namespace sluice::node
