// SPDX-License-Identifier: Apache-2.0
// Names and options of topics: what a create command carries and the catalog keeps.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace sluice::metadata {

// A topic belongs to a stream. Both parts: [a-zA-Z0-9][a-zA-Z0-9._-]{0,127}. Written "stream/topic".
struct TopicName {
  std::string stream;
  std::string topic;

  friend auto operator<=>(const TopicName&, const TopicName&) = default;
};
inline constexpr std::size_t kNamePartMax = 128;
inline constexpr std::size_t kConnectorKeyMax = 64;
[[nodiscard]] std::string to_string(const TopicName& name);
[[nodiscard]] Result<TopicName> parse_topic_name(std::string_view text);

// What keeps old segments. Whole leading segments go; the active one only by age, if nothing was appended for so long.
struct RetentionOptions {
  std::optional<std::uint64_t> bytes{};            // per partition; absent = whatever it takes
  bool wait_for_consumers = false;                 // never trim what a known consumer group has not committed …
  std::optional<std::uint64_t> hard_bytes{};       // … unless the partition is beyond this
  std::optional<std::chrono::milliseconds> age{};  // kRetentionAgeMin..kRetentionAgeMax; absent = however old it gets

  friend bool operator==(const RetentionOptions&, const RetentionOptions&) = default;
};

struct TopicOptions {
  std::uint32_t partitions = 1;                    // 1..kPartitionsMax
  bool enforce_fsync = true;                       // acknowledged after the flush; false: after the bytes are in the page cache
  std::chrono::milliseconds flush_interval{1000};  // enforce_fsync = false only; kFlushIntervalMin..kFlushIntervalMax
  std::uint64_t segment_bytes = 1ULL << 30;        // kSegmentBytesMin..kSegmentBytesMax
  RetentionOptions retention{};

  friend bool operator==(const TopicOptions&, const TopicOptions&) = default;
};
inline constexpr std::uint32_t kPartitionsMax = 4096;
inline constexpr std::uint64_t kSegmentBytesMin = 1ULL << 20;
inline constexpr std::uint64_t kSegmentBytesMax = 1ULL << 30;
inline constexpr std::chrono::milliseconds kFlushIntervalMin{10};
inline constexpr std::chrono::milliseconds kFlushIntervalMax{60'000};
inline constexpr std::chrono::milliseconds kRetentionAgeMin = std::chrono::seconds(1);
inline constexpr std::chrono::milliseconds kRetentionAgeMax = std::chrono::hours(24) * 36'500;

// A topic as the catalog knows it.
struct Topic {
  TopicName name;
  Incarnation incarnation;  // op of its create command, never reused
  View created_view;        // view the create was first prepared in
  TopicOptions options;
  std::vector<GroupId> groups;  // one per partition, by partition index; never reused

  friend bool operator==(const Topic&, const Topic&) = default;
};

[[nodiscard]] Result<void> validate(const TopicName& name);
[[nodiscard]] Result<void> validate(const TopicOptions& options);
// Connector keys: 1..kConnectorKeyMax bytes of [a-z0-9_], first a letter.
[[nodiscard]] Result<void> validate_connector_key(std::string_view key);

}  // namespace sluice::metadata
