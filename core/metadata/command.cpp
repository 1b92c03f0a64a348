// SPDX-License-Identifier: Apache-2.0
#include "core/metadata/command.hpp"

#include <fmt/format.h>

#include "core/base/overload.hpp"
#include "core/metadata/errc.hpp"

namespace sluice::metadata {
namespace {

enum class CommandKind : std::uint16_t { kCreateTopic = 1, kDeleteTopic = 2, kSetPaused = 3 };

constexpr auto kRetentionAgeMaxMs = static_cast<std::uint64_t>(kRetentionAgeMax.count());

std::unexpected<Error> malformed_command(std::string_view what) {
  return fail(Errc::kMalformed, fmt::format("catalog command: {}", what));
}

void put_optional_u64(ByteWriter& writer, const std::optional<std::uint64_t>& value) {
  writer.put(static_cast<std::uint8_t>(value ? 1 : 0));
  writer.put(value.value_or(0));
}

std::optional<std::optional<std::uint64_t>> get_optional_u64(ByteReader& reader) {
  const auto present = reader.get<std::uint8_t>();
  const auto value = reader.get<std::uint64_t>();
  if (!value || *present > 1 || (*present == 0 && *value != 0)) return std::nullopt;
  return *present == 1 ? std::optional(*value) : std::nullopt;
}

}  // namespace

void encode(ByteWriter& writer, const TopicName& name) {
  writer.put_sized(name.stream);
  writer.put_sized(name.topic);
}

void encode(ByteWriter& writer, const TopicOptions& options) {
  ByteVector block;
  ByteWriter fields(block);
  fields.put(options.partitions);
  fields.put(static_cast<std::uint8_t>(options.enforce_fsync));
  fields.put(narrow<std::uint32_t>(options.flush_interval.count()));
  fields.put(options.segment_bytes);
  put_optional_u64(fields, options.retention.bytes);
  fields.put(static_cast<std::uint8_t>(options.retention.wait_for_consumers));
  put_optional_u64(fields, options.retention.hard_bytes);
  const auto& age = options.retention.age;
  put_optional_u64(fields, age ? std::optional(static_cast<std::uint64_t>(age->count())) : std::nullopt);
  writer.put_sized(block);
}

Result<TopicName> decode_topic_name(ByteReader& reader) {
  const auto stream = reader.get_sized();
  const auto topic = reader.get_sized();
  if (!topic) return malformed_command("a topic name runs past the end");
  return TopicName{std::string(as_text(*stream)), std::string(as_text(*topic))};
}

Result<TopicOptions> decode_topic_options(ByteReader& reader) {
  const auto block = reader.get_sized();
  if (!block) return malformed_command("topic options run past the end");
  ByteReader fields(*block);
  TopicOptions options;
  const auto partitions = fields.get<std::uint32_t>();
  const auto enforce_fsync = fields.get<std::uint8_t>();
  const auto flush_interval_ms = fields.get<std::uint32_t>();
  const auto segment_bytes = fields.get<std::uint64_t>();
  if (!segment_bytes || *enforce_fsync > 1) return malformed_command("topic options are cut short or hold a bad flag");
  options.partitions = *partitions;
  options.enforce_fsync = *enforce_fsync == 1;
  options.flush_interval = std::chrono::milliseconds(*flush_interval_ms);
  options.segment_bytes = *segment_bytes;
  if (fields.finished()) return options;

  const auto bytes = get_optional_u64(fields);
  const auto wait_for_consumers = fields.get<std::uint8_t>();
  const auto hard_bytes = get_optional_u64(fields);
  if (!bytes || !wait_for_consumers || *wait_for_consumers > 1 || !hard_bytes)
    return malformed_command("retention options are cut short or hold a bad flag");
  options.retention = {.bytes = *bytes, .wait_for_consumers = *wait_for_consumers == 1, .hard_bytes = *hard_bytes};
  if (fields.finished()) return options;

  const auto age_ms = get_optional_u64(fields);
  if (!age_ms || (*age_ms && **age_ms > kRetentionAgeMaxMs)) return malformed_command("the retention age is cut short or out of range");
  if (*age_ms) options.retention.age = std::chrono::milliseconds(**age_ms);
  if (!fields.finished()) return malformed_command("bytes left over after the topic options");
  return options;
}

ByteVector encode(const Command& command) {
  ByteVector out;
  ByteWriter writer(out);
  writer.put(kFormatVersion);
  std::visit(Overload{
                 [&](const CreateTopic& create) {
                   writer.put(static_cast<std::uint16_t>(CommandKind::kCreateTopic));
                   encode(writer, create.name);
                   writer.put(create.created_view.value());
                   encode(writer, create.options);
                 },
                 [&](const DeleteTopic& remove) {
                   writer.put(static_cast<std::uint16_t>(CommandKind::kDeleteTopic));
                   encode(writer, remove.name);
                 },
                 [&](const SetPaused& set) {
                   writer.put(static_cast<std::uint16_t>(CommandKind::kSetPaused));
                   writer.put_sized(set.connector);
                   writer.put(static_cast<std::uint8_t>(set.paused));
                 },
             },
             command);
  return out;
}

Result<Command> decode_command(Bytes bytes) {
  ByteReader reader(bytes);
  const auto version = reader.get<std::uint16_t>();
  const auto kind = reader.get<std::uint16_t>();
  if (!kind) return malformed_command("shorter than its head");
  if (*version > kFormatVersion) {
    return fail(Errc::kTooNew,
                fmt::format("a catalog command has format version {}, this release reads versions up to {}", *version, kFormatVersion));
  }
  if (*version == 0) return malformed_command("format version 0 does not exist");
  Command command;
  switch (static_cast<CommandKind>(*kind)) {
    case CommandKind::kCreateTopic: {
      SLUICE_TRY(TopicName name, decode_topic_name(reader));
      const auto view = reader.get<std::uint32_t>();
      SLUICE_TRY(TopicOptions options, decode_topic_options(reader));
      command = CreateTopic{std::move(name), options, View(*view)};
      break;
    }
    case CommandKind::kDeleteTopic: {
      SLUICE_TRY(TopicName name, decode_topic_name(reader));
      command = DeleteTopic{std::move(name)};
      break;
    }
    case CommandKind::kSetPaused: {
      const auto connector = reader.get_sized();
      const auto paused = reader.get<std::uint8_t>();
      if (!paused || *paused > 1) return malformed_command("set_paused is cut short or holds a bad flag");
      command = SetPaused{std::string(as_text(*connector)), *paused == 1};
      break;
    }
    default:
      return malformed_command(fmt::format("kind {} does not exist in version {}", *kind, *version));
  }
  if (!reader.finished()) return malformed_command("bytes left over at the end");
  return command;
}

}  // namespace sluice::metadata
