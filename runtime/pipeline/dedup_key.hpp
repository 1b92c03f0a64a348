// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/u128.hpp"
#include "core/client/topic.hpp"

namespace sluice::pipeline {

// Where a record stands in the world: no two records ever share one, because the cluster id is random and an incarnation is never reused.
struct Coordinates {
  U128 cluster_id;
  client::TopicName topic;
  PartitionIndex partition;
  Incarnation incarnation;
  Offset offset;

  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

// "<cluster id>:<stream>:<topic>:<partition>:<incarnation>:<offset>[:<part>]", what a back end may use to recognise a record it has seen.
[[nodiscard]] std::string dedup_key(const Coordinates& at, std::optional<std::uint32_t> part = std::nullopt);

}  // namespace sluice::pipeline
