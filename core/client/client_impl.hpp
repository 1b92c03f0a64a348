// SPDX-License-Identifier: Apache-2.0
// The parts of a client: shared by its source files, not by others.
#pragma once

#include "core/client/client.hpp"
#include "core/node/node.hpp"

namespace sluice::client {

struct Client::Impl {
  explicit Impl(node::Node& owner) : node(owner) {}

  // The topics with what their partitions say of themselves now.
  [[nodiscard]] Result<std::vector<TopicInfo>> describe(const std::vector<metadata::Topic>& topics);

  node::Node& node;
};

}  // namespace sluice::client
