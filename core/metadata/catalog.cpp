// SPDX-License-Identifier: Apache-2.0
#include "core/metadata/catalog.hpp"

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/metadata/errc.hpp"

namespace sluice::metadata {
namespace {

std::unexpected<Error> malformed_snapshot(std::string_view what) {
  return fail(Errc::kMalformed, fmt::format("catalog snapshot: {}", what));
}

std::unexpected<Error> topic_not_found(const TopicName& name) {
  return fail(Errc::kTopicNotFound, fmt::format("topic '{}' does not exist", to_string(name)));
}

Result<Topic> decode_snapshot_topic(ByteReader& reader) {
  Topic topic;
  SLUICE_TRY(topic.name, decode_topic_name(reader));
  const auto incarnation = reader.get<std::uint64_t>();
  const auto view = reader.get<std::uint32_t>();
  SLUICE_TRY(topic.options, decode_topic_options(reader));
  topic.incarnation = Incarnation(*incarnation);
  topic.created_view = View(*view);
  if (const auto valid = validate(topic.name); !valid) return malformed_snapshot(valid.error().message());
  if (const auto valid = validate(topic.options); !valid) return malformed_snapshot(valid.error().message());
  topic.groups.reserve(topic.options.partitions);
  for (std::uint32_t i = 0; i < topic.options.partitions; ++i) {
    const auto group = reader.get<std::uint64_t>();
    if (!group) return malformed_snapshot("group ids run past the end");
    topic.groups.emplace_back(*group);
  }
  return topic;
}

}  // namespace

const Topic* Catalog::find(const TopicName& name) const {
  const auto found = topics_.find(name);
  return found == topics_.end() ? nullptr : &found->second;
}

Result<void> Catalog::check(const Command& command) const {
  if (const auto* create = std::get_if<CreateTopic>(&command)) {
    SLUICE_CHECK(validate(create->name));
    SLUICE_CHECK(validate(create->options));
    if (topics_.contains(create->name)) return fail(Errc::kTopicExists, fmt::format("topic '{}' exists already", to_string(create->name)));
    if (group_count_ + create->options.partitions > kGroupsMax) {
      return fail(Errc::kLimit, fmt::format("{} more partitions would make {}, at most {} are allowed in all", create->options.partitions,
                                            group_count_ + create->options.partitions, kGroupsMax));
    }
    return {};
  }
  if (const auto* remove = std::get_if<DeleteTopic>(&command)) {
    if (!topics_.contains(remove->name)) return topic_not_found(remove->name);
    return {};
  }
  const auto& set = std::get<SetPaused>(command);
  SLUICE_CHECK(validate_connector_key(set.connector));
  if (set.paused && paused_.size() >= kPausedMax && !paused_.contains(set.connector)) {
    return fail(Errc::kLimit, fmt::format("{} connectors are paused already, no more are allowed", kPausedMax));
  }
  return {};
}

Result<Change> Catalog::apply(Op op, const Command& command) {
  SLUICE_ASSERT(op > applied_, "op {} applied {}", op, applied_);
  applied_ = op;
  SLUICE_CHECK(check(command));
  Change change;
  if (const auto* create = std::get_if<CreateTopic>(&command)) {
    Topic topic{create->name, Incarnation(op.value()), create->created_view, create->options, {}};
    topic.groups.reserve(create->options.partitions);
    for (std::uint32_t i = 0; i < create->options.partitions; ++i) {
      topic.groups.push_back(next_group_);
      next_group_ = next_group_.next();
    }
    group_count_ += topic.groups.size();
    change.created = topic;
    topics_.emplace(create->name, std::move(topic));
  } else if (const auto* remove = std::get_if<DeleteTopic>(&command)) {
    auto node = topics_.extract(remove->name);
    group_count_ -= node.mapped().groups.size();
    change.deleted = std::move(node.mapped());
  } else {
    const auto& set = std::get<SetPaused>(command);
    if (set.paused) {
      paused_.insert(set.connector);
    } else {
      paused_.erase(set.connector);
    }
  }
  return change;
}

ByteVector Catalog::encode_snapshot() const {
  ByteVector out;
  ByteWriter writer(out);
  writer.put(kFormatVersion);
  writer.put(applied_.value());
  writer.put(next_group_.value());
  writer.put(narrow<std::uint32_t>(topics_.size()));
  for (const auto& [name, topic] : topics_) {
    encode(writer, name);
    writer.put(topic.incarnation.value());
    writer.put(topic.created_view.value());
    encode(writer, topic.options);
    for (const GroupId group : topic.groups) writer.put(group.value());
  }
  writer.put(narrow<std::uint32_t>(paused_.size()));
  for (const std::string& connector : paused_) writer.put_sized(connector);
  return out;
}

Result<Catalog> Catalog::decode_snapshot(Bytes bytes) {
  ByteReader reader(bytes);
  const auto version = reader.get<std::uint16_t>();
  if (!version) return malformed_snapshot("empty");
  if (*version > kFormatVersion) {
    return fail(Errc::kTooNew,
                fmt::format("the catalog snapshot has format version {}, this release reads versions up to {}", *version, kFormatVersion));
  }
  if (*version == 0) return malformed_snapshot("format version 0 does not exist");
  const auto applied = reader.get<std::uint64_t>();
  const auto next_group = reader.get<std::uint64_t>();
  const auto topic_count = reader.get<std::uint32_t>();
  if (!topic_count || *topic_count > kGroupsMax) return malformed_snapshot("cut short, or more topics than are allowed");
  Catalog catalog;
  catalog.applied_ = Op(*applied);
  catalog.next_group_ = GroupId(*next_group);
  std::set<GroupId> seen;
  for (std::uint32_t i = 0; i < *topic_count; ++i) {
    SLUICE_TRY(Topic topic, decode_snapshot_topic(reader));
    if (topic.incarnation.value() > *applied) return malformed_snapshot("a topic is newer than the snapshot");
    for (const GroupId group : topic.groups) {
      if (group == kMetadataGroup || group >= catalog.next_group_ || !seen.insert(group).second)
        return malformed_snapshot("a group id occurs twice or out of range");
    }
    // One state has one snapshot.
    if (!catalog.topics_.empty() && catalog.topics_.rbegin()->first >= topic.name)
      return malformed_snapshot("the topics are not in ascending order");
    catalog.group_count_ += topic.groups.size();
    TopicName name = topic.name;
    catalog.topics_.emplace_hint(catalog.topics_.end(), std::move(name), std::move(topic));
  }
  const auto paused_count = reader.get<std::uint32_t>();
  if (!paused_count || *paused_count > kPausedMax || catalog.group_count_ > kGroupsMax)
    return malformed_snapshot("cut short, or more entries than are allowed");
  for (std::uint32_t i = 0; i < *paused_count; ++i) {
    const auto connector = reader.get_sized();
    if (!connector || !validate_connector_key(as_text(*connector))) return malformed_snapshot("a paused connector's key is damaged");
    if (!catalog.paused_.empty() && *catalog.paused_.rbegin() >= as_text(*connector))
      return malformed_snapshot("the paused connectors are not in ascending order");
    catalog.paused_.emplace_hint(catalog.paused_.end(), as_text(*connector));
  }
  if (!reader.finished()) return malformed_snapshot("bytes left over at the end");
  return catalog;
}

}  // namespace sluice::metadata
