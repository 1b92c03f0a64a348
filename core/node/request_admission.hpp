// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "core/base/ids.hpp"
#include "core/entry/entry.hpp"
#include "core/node/group_host.hpp"
#include "core/partition/client_table.hpp"

namespace sluice::node {

// The numbered requests of one partition between their admission and their answer, beside the table of those that were applied: so a
// request enters the log once, however fast it is repeated. Nothing is counted before begin(), so a request that is refused for another
// reason may come again under its number. Runs on the partition's shard, and outlives the group that it admits to.
class RequestAdmission {
 public:
  // Whether the request is its client's next one. Else answers `done`: with what came of it the first time, now or as soon as that is
  // known, or with an error of ClientTable::judge.
  [[nodiscard]] bool is_next(const partition::ClientTable& applied, const entry::EntryHeader& request, ProposeDone& done);
  // The completion to propose the next request with.
  [[nodiscard]] ProposeDone begin(const entry::EntryHeader& request, ProposeDone done);

 private:
  struct Request {
    U128 body_checksum;
    std::vector<ProposeDone> repeats{};  // who sent it again; each is counted by the node's limit of pending bytes
  };
  struct Client {
    RequestNumber first{};  // number of the first one below
    std::deque<Request> requests{};
  };

  [[nodiscard]] std::vector<ProposeDone> finish(ClientId client, RequestNumber number);

  std::map<ClientId, Client> under_way_;  // clients without a request are not here
};

}  // namespace sluice::node
