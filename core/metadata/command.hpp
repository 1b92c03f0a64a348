// SPDX-License-Identifier: Apache-2.0
// The commands of the metadata group: bodies of its log's entries. Byte layout: docs/reference/catalog-format.md.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/metadata/topic.hpp"

namespace sluice::metadata {

// Version of commands and snapshots. A reader takes every version up to this one and refuses a newer one with both numbers.
inline constexpr std::uint16_t kFormatVersion = 2;

struct CreateTopic {
  TopicName name;
  TopicOptions options;
  View created_view;
  friend bool operator==(const CreateTopic&, const CreateTopic&) = default;
};
struct DeleteTopic {
  TopicName name;
  friend bool operator==(const DeleteTopic&, const DeleteTopic&) = default;
};
struct SetPaused {
  std::string connector;
  bool paused = false;
  friend bool operator==(const SetPaused&, const SetPaused&) = default;
};
using Command = std::variant<CreateTopic, DeleteTopic, SetPaused>;

[[nodiscard]] ByteVector encode(const Command& command);
// Checks shape and version, not meaning: apply does that.
[[nodiscard]] Result<Command> decode_command(Bytes bytes);

// The parts that commands and snapshots share. Each is a sized block: a shorter one, from an older version, leaves the fields that it
// does not have at their defaults; bytes left over are malformed.
void encode(ByteWriter& writer, const TopicName& name);
void encode(ByteWriter& writer, const TopicOptions& options);
[[nodiscard]] Result<TopicName> decode_topic_name(ByteReader& reader);
[[nodiscard]] Result<TopicOptions> decode_topic_options(ByteReader& reader);

}  // namespace sluice::metadata
