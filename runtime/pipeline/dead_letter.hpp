// SPDX-License-Identifier: Apache-2.0
// The dead letter: a record that could not be delivered, kept whole, with why. Format: docs/reference/dead-letters.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/u128.hpp"
#include "core/client/topic.hpp"
#include "core/entry/record.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::pipeline {

inline constexpr std::string_view kDeadLetterStream = "dlq";
inline constexpr std::string_view kDeadLetterHeaderPrefix = "sluice.dlq.";

// "dlq/dlq.<connector>": made when the connector starts, one partition.
[[nodiscard]] client::TopicName dead_letter_topic(std::string_view connector);

// Where a record stands in the log, for ever: what its dedup key is made of.
struct Coordinates {
  U128 cluster_id;
  client::TopicName topic;
  PartitionIndex partition;
  Incarnation incarnation;
  Offset offset;

  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

// Why and where a record failed.
struct DeadLetterReason {
  std::string connector;
  std::string plugin_version;
  std::string outcome_class;
  std::string scope;
  std::string code;
  std::string text;
  std::string hint;
  std::int32_t http_status = 0;
  std::uint32_t attempts = 1;
  TimestampUs failed_at;
  // Of a sink's record. For a source only the topic it was bound for is known: partition, incarnation and offset stay 0.
  bool from_sink = true;
  Coordinates source;
  TimestampUs source_timestamp;  // when the log took it
};
[[nodiscard]] DeadLetterReason make_reason(const plugin::Outcome& outcome);

// What was left of a record that with its reason would not fit into one record.
struct DeadLetterCut {
  std::string part;  // "payload", "headers", "key"
  std::uint64_t original_bytes = 0;
  U128 hash;  // XXH3-128 of the original bytes
  friend bool operator==(const DeadLetterCut&, const DeadLetterCut&) = default;
};

// The record to append to the dead letter topic: id, key, payload, origin timestamp, format, schema and headers of `record`, then the
// reason as further headers. At most entry::kRecordBytesMax: what does not fit is cut (payload first, then headers, then key), with its
// length and hash.
[[nodiscard]] Record encode_dead_letter(const RecordView& record, const DeadLetterReason& reason);

struct DeadLetter {
  RecordView record;  // as it failed; views into the bytes of the dead letter
  DeadLetterReason reason;
  std::vector<DeadLetterCut> cuts;  // not empty: this is not the whole record, and it cannot be redriven
};

// Errors: base.decode, if `stored` is not a dead letter.
[[nodiscard]] Result<DeadLetter> decode_dead_letter(const RecordView& stored);

}  // namespace sluice::pipeline
