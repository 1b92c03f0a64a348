// SPDX-License-Identifier: Apache-2.0
// Names, options and descriptions of streams, topics and partitions, as the runtime and the control plane see them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace sluice::client {

// A topic belongs to a stream. Both parts: [a-zA-Z0-9][a-zA-Z0-9._-]{0,127}. Written "stream/topic".
struct TopicName {
  std::string stream;
  std::string topic;

  friend auto operator<=>(const TopicName&, const TopicName&) = default;
};
[[nodiscard]] std::string to_string(const TopicName& name);
[[nodiscard]] Result<TopicName> parse_topic_name(std::string_view text);

// What keeps old segments. Whole leading segments go; the active one never does.
struct RetentionOptions {
  std::optional<std::uint64_t> bytes;  // per partition; absent = keep everything
  bool wait_for_consumers = false;     // never trim what a known consumer group has not committed …
  std::optional<std::uint64_t> hard_bytes;  // … unless the partition is beyond this
};

struct TopicOptions {
  std::uint32_t partitions = 1;                  // 1..kPartitionsMax
  bool enforce_fsync = true;                     // acknowledged after the flush; false: after the bytes are in the page cache
  std::chrono::milliseconds flush_interval{1000};  // enforce_fsync = false only
  std::uint64_t segment_bytes = 1ULL << 30;      // kSegmentBytesMin..kSegmentBytesMax
  RetentionOptions retention;
};
inline constexpr std::uint32_t kPartitionsMax = 4096;
inline constexpr std::uint64_t kSegmentBytesMin = 1ULL << 20;
inline constexpr std::uint64_t kSegmentBytesMax = 1ULL << 30;

// One partition of one incarnation of a topic: what every data call names. A recreated topic has other group ids.
struct PartitionRef {
  GroupId group;
  friend auto operator<=>(const PartitionRef&, const PartitionRef&) = default;
};

struct PartitionInfo {
  PartitionIndex index;
  PartitionRef ref;
  // Set if recovery refused this partition: it stays refused, its bytes are untouched, every call on it fails with this error.
  std::optional<Error> refused;
  Offset first_offset;       // earliest readable
  Offset next_offset;        // one past the newest committed message
  std::uint64_t size_bytes = 0;
};

struct TopicInfo {
  TopicName name;
  Incarnation incarnation;
  TopicOptions options;
  std::vector<PartitionInfo> partitions;  // by index
};

}  // namespace sluice::client
