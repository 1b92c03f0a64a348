// SPDX-License-Identifier: Apache-2.0
// The bytes of a checkpoint. docs/reference/partition-format.md, "Checkpoint".
#include <fmt/format.h>

#include "core/partition/errc.hpp"
#include "core/partition/partition_state.hpp"

namespace sluice::partition {
namespace {

constexpr std::uint16_t kCheckpointVersion = 2;
constexpr std::uint16_t kFirstVersionWithClients = 2;

std::unexpected<Error> malformed_checkpoint(std::string_view what) {
  return fail(Errc::kMalformed, fmt::format("partition checkpoint: {}", what));
}

bool is_member_name(Bytes name) {
  return !name.empty() && name.size() <= kMemberNameMax;
}

// Both maps are written in ascending order of their keys, so that equal states have equal bytes; a reader insists on it.
bool comes_after(const auto& map, std::string_view key) {
  return map.empty() || map.rbegin()->first < key;
}

Result<std::pair<std::string, GroupPosition>> decode_consumer(ByteReader& reader) {
  const auto name = reader.get_sized();
  const auto epoch = reader.get<std::uint64_t>();
  const auto start = reader.get<std::uint64_t>();
  const auto next = reader.get<std::uint64_t>();
  const auto accounting = decode_accounting(reader);
  if (!accounting || !is_member_name(*name) || *next < *start) return malformed_checkpoint("a consumer group is damaged or cut short");
  return std::pair(std::string(as_text(*name)), GroupPosition{Epoch(*epoch), Offset(*start), Offset(*next), *accounting});
}

Result<std::pair<std::string, SourcePosition>> decode_source(ByteReader& reader) {
  const auto name = reader.get_sized();
  const auto epoch = reader.get<std::uint64_t>();
  const auto has_state = reader.get<std::uint8_t>();
  if (!has_state || *has_state > 1 || !is_member_name(*name)) return malformed_checkpoint("a source is damaged or cut short");
  std::pair out(std::string(as_text(*name)), SourcePosition{.epoch = Epoch(*epoch)});
  if (*has_state == 1) {
    const auto section = reader.get_sized();
    if (!section) return malformed_checkpoint("a source state is cut short");
    SLUICE_TRY(StateEnvelope envelope, decode_envelope(*section));
    if (envelope.state.connector != out.first) return malformed_checkpoint("a source has the state of another one");
    out.second.state = std::move(envelope.state);
  }
  return out;
}

}  // namespace

ByteVector PartitionState::encode_checkpoint() const {
  ByteVector out;
  ByteWriter writer(out);
  writer.put(kCheckpointVersion);
  writer.put(last_op_.value());
  writer.put(last_identity_);
  writer.put(next_offset_.value());
  writer.put(floor_offset_.value());
  writer.put(last_timestamp_.value());
  writer.put(narrow<std::uint32_t>(consumers_.size()));
  for (const auto& [group, position] : consumers_) {
    writer.put_sized(group);
    writer.put(position.epoch.value());
    writer.put(position.start_offset.value());
    writer.put(position.committed_next.value());
    encode(writer, position.accounting);
  }
  writer.put(narrow<std::uint32_t>(sources_.size()));
  for (const auto& [connector, position] : sources_) {
    writer.put_sized(connector);
    writer.put(position.epoch.value());
    writer.put(static_cast<std::uint8_t>(position.state ? 1 : 0));
    if (position.state) writer.put_sized(encode_envelope(StateEnvelope{position.epoch, *position.state}));
  }
  clients_.encode(writer);
  return out;
}

Result<PartitionState> PartitionState::decode_checkpoint(Bytes bytes) {
  ByteReader reader(bytes);
  const auto version = reader.get<std::uint16_t>();
  if (!version) return malformed_checkpoint("empty");
  if (*version > kCheckpointVersion) {
    return fail(Errc::kTooNew, fmt::format("a partition checkpoint has format version {}, this release reads versions up to {}", *version,
                                           kCheckpointVersion));
  }
  if (*version == 0) return malformed_checkpoint("format version 0 does not exist");
  const auto last_op = reader.get<std::uint64_t>();
  const auto identity = reader.get_u128();
  const auto next_offset = reader.get<std::uint64_t>();
  const auto floor_offset = reader.get<std::uint64_t>();
  const auto timestamp = reader.get<std::int64_t>();
  const auto consumer_count = reader.get<std::uint32_t>();
  if (!consumer_count || *floor_offset > *next_offset || *consumer_count > kConsumersMax)
    return malformed_checkpoint("damaged or cut short");
  PartitionState state;
  state.last_op_ = Op(*last_op);
  state.last_identity_ = *identity;
  state.next_offset_ = Offset(*next_offset);
  state.floor_offset_ = Offset(*floor_offset);
  state.last_timestamp_ = TimestampUs(*timestamp);
  for (std::uint32_t i = 0; i < *consumer_count; ++i) {
    SLUICE_TRY(auto consumer, decode_consumer(reader));
    if (!comes_after(state.consumers_, consumer.first)) return malformed_checkpoint("consumer groups are out of order");
    state.consumers_.insert(std::move(consumer));
  }
  const auto source_count = reader.get<std::uint32_t>();
  if (!source_count || *source_count > kSourcesMax) return malformed_checkpoint("cut short, or more sources than are allowed");
  for (std::uint32_t i = 0; i < *source_count; ++i) {
    SLUICE_TRY(auto source, decode_source(reader));
    if (!comes_after(state.sources_, source.first)) return malformed_checkpoint("sources are out of order");
    state.sources_.insert(std::move(source));
  }
  if (*version >= kFirstVersionWithClients) {
    SLUICE_TRY(state.clients_, ClientTable::decode(reader, state.last_op_, state.next_offset_));
  }
  if (!reader.finished()) return malformed_checkpoint("bytes left over at the end");
  return state;
}

}  // namespace sluice::partition
