// SPDX-License-Identifier: Apache-2.0
// Names, options and descriptions of streams, topics and partitions, as the runtime and the control plane see them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/metadata/topic.hpp"

namespace sluice::client {

using metadata::kPartitionsMax;
using metadata::kSegmentBytesMax;
using metadata::kSegmentBytesMin;
using metadata::parse_topic_name;
using metadata::RetentionOptions;
using metadata::to_string;
using metadata::TopicName;
using metadata::TopicOptions;

// One partition of one incarnation of a topic: what every data call names. A recreated topic has other group ids.
struct PartitionRef {
  GroupId group{};
  friend auto operator<=>(const PartitionRef&, const PartitionRef&) = default;
};

struct PartitionInfo {
  PartitionIndex index{};
  PartitionRef ref{};
  // Set if this partition is not served: recovery refused it, or a write of it failed. Its bytes are untouched, every call on it fails
  // with this error, and the fields below are 0.
  std::optional<Error> refused{};
  Offset first_offset{};  // earliest readable
  Offset next_offset{};   // one past the newest committed message
  std::uint64_t size_bytes = 0;
  // What the scrub of complete segments has done in this run.
  struct Scrub {
    std::uint64_t bytes = 0;       // that were looked at
    std::size_t due_segments = 0;  // to be verified, for the first time since the start or once more
    std::vector<Error> damage{};   // one for each damaged segment, with segment and position
  };
  Scrub scrub{};
};

struct TopicInfo {
  TopicName name{};
  Incarnation incarnation{};
  TopicOptions options{};
  std::vector<PartitionInfo> partitions{};  // by index
};

}  // namespace sluice::client
