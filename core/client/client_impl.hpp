// SPDX-License-Identifier: Apache-2.0
// The parts of a client: shared by its source files, not by others.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "core/base/ids.hpp"
#include "core/base/random.hpp"
#include "core/client/client.hpp"
#include "core/node/node.hpp"

namespace sluice::client {

struct Client::Impl {
  explicit Impl(node::Node& owner) : node(owner), id(system_random().next_u128()) {}

  // Numbers the request and posts it, so that numbers are dense per group and in the order of the log. If it fails, `done` is untouched.
  [[nodiscard]] Result<void> send(GroupId group, node::AppendRequest request, node::ProposeDone& done);
  // The topics with what their partitions say of themselves now.
  [[nodiscard]] Result<std::vector<TopicInfo>> describe(const std::vector<metadata::Topic>& topics);

  node::Node& node;
  const ClientId id;
  std::mutex mutex;
  std::unordered_map<GroupId, std::uint64_t> last_requests;  // one per partition that was ever written
};

}  // namespace sluice::client
