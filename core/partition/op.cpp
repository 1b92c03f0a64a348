// SPDX-License-Identifier: Apache-2.0
#include "core/partition/op.hpp"

#include <fmt/format.h>

#include "core/base/overload.hpp"
#include "core/partition/errc.hpp"

namespace sluice::partition {
namespace {

enum class OpKind : std::uint16_t { kBeginAssignment = 1, kCommitOffset = 2, kBeginSource = 3, kTrim = 4, kStoreState = 5 };

std::unexpected<Error> malformed_op(std::string_view what) {
  return fail(Errc::kMalformed, fmt::format("partition op: {}", what));
}

Result<void> check_op_version(std::string_view what, std::uint16_t version) {
  if (version > kFormatVersion) {
    return fail(Errc::kTooNew,
                fmt::format("a {} has format version {}, this release reads versions up to {}", what, version, kFormatVersion));
  }
  if (version == 0) return fail(Errc::kMalformed, fmt::format("a {} has format version 0, which does not exist", what));
  return {};
}

std::optional<std::string> get_op_text(ByteReader& reader) {
  const auto bytes = reader.get_sized();
  if (!bytes) return std::nullopt;
  return std::string(as_text(*bytes));
}

}  // namespace

void encode(ByteWriter& writer, const Accounting& accounting) {
  for (const std::uint64_t count :
       {accounting.delivered, accounting.filtered, accounting.skipped, accounting.dead_lettered, accounting.expired, accounting.gap}) {
    writer.put(count);
  }
}

std::optional<Accounting> decode_accounting(ByteReader& reader) {
  Accounting out;
  for (std::uint64_t* count : {&out.delivered, &out.filtered, &out.skipped, &out.dead_lettered, &out.expired, &out.gap}) {
    const auto value = reader.get<std::uint64_t>();
    if (!value) return std::nullopt;
    *count = *value;
  }
  return out;
}

ByteVector encode(const PartitionOp& op) {
  ByteVector out;
  ByteWriter writer(out);
  writer.put(kFormatVersion);
  const auto put_kind = [&](OpKind kind) { writer.put(static_cast<std::uint16_t>(kind)); };
  std::visit(Overload{
                 [&](const BeginAssignment& begin) {
                   put_kind(OpKind::kBeginAssignment);
                   writer.put_sized(begin.group);
                   writer.put(begin.start.value());
                 },
                 [&](const CommitOffset& commit) {
                   put_kind(OpKind::kCommitOffset);
                   writer.put_sized(commit.group);
                   writer.put(commit.epoch.value());
                   writer.put(commit.committed_next.value());
                   encode(writer, commit.accounting);
                 },
                 [&](const BeginSource& begin) {
                   put_kind(OpKind::kBeginSource);
                   writer.put_sized(begin.connector);
                 },
                 [&](const Trim& trim) {
                   put_kind(OpKind::kTrim);
                   writer.put(trim.floor.value());
                 },
                 [&](const StateEnvelope& envelope) {
                   put_kind(OpKind::kStoreState);
                   writer.put_sized(encode_envelope(envelope));
                 },
             },
             op);
  return out;
}

Result<PartitionOp> decode_op(Bytes bytes) {
  ByteReader reader(bytes);
  const auto version = reader.get<std::uint16_t>();
  const auto kind = reader.get<std::uint16_t>();
  if (!kind) return malformed_op("shorter than its head");
  SLUICE_CHECK(check_op_version("partition op", *version));
  std::optional<PartitionOp> op;
  switch (static_cast<OpKind>(*kind)) {
    case OpKind::kBeginAssignment: {
      auto group = get_op_text(reader);
      const auto start = reader.get<std::uint64_t>();
      if (start) op = BeginAssignment{*std::move(group), Offset(*start)};
      break;
    }
    case OpKind::kCommitOffset: {
      auto group = get_op_text(reader);
      const auto epoch = reader.get<std::uint64_t>();
      const auto next = reader.get<std::uint64_t>();
      const auto accounting = decode_accounting(reader);
      if (accounting) op = CommitOffset{*std::move(group), Epoch(*epoch), Offset(*next), *accounting};
      break;
    }
    case OpKind::kBeginSource: {
      auto connector = get_op_text(reader);
      if (connector) op = BeginSource{*std::move(connector)};
      break;
    }
    case OpKind::kTrim: {
      const auto floor = reader.get<std::uint64_t>();
      if (floor) op = Trim{Offset(*floor)};
      break;
    }
    case OpKind::kStoreState: {
      const auto section = reader.get_sized();
      if (!section) break;
      SLUICE_TRY(op, decode_envelope(*section));
      break;
    }
    default:
      return malformed_op(fmt::format("kind {} does not exist in version {}", *kind, *version));
  }
  if (!op) return malformed_op("cut short");
  if (!reader.finished()) return malformed_op("bytes left over at the end");
  return *std::move(op);
}

Result<void> validate(const SourceState& state) {
  if (state.connector.empty() || state.connector.size() > kMemberNameMax) {
    return fail(Errc::kInvalidName, fmt::format("a source name has {} bytes, 1 to {} are allowed", state.connector.size(), kMemberNameMax));
  }
  if (state.writer_version.size() > kWriterVersionMax) {
    return fail(Errc::kInvalidName, fmt::format("the plugin version in the state of '{}' has {} bytes, at most {} are allowed",
                                                state.connector, state.writer_version.size(), kWriterVersionMax));
  }
  if (state.bytes.size() > kSourceStateBytesMax) {
    return fail(Errc::kStateTooLarge, fmt::format("the state of source '{}' has {} bytes, at most {} are allowed", state.connector,
                                                  state.bytes.size(), kSourceStateBytesMax));
  }
  return {};
}

ByteVector encode_envelope(const StateEnvelope& envelope) {
  const SourceState& state = envelope.state;
  ByteVector out;
  out.reserve(128 + state.connector.size() + state.writer_version.size() + state.bytes.size());
  ByteWriter writer(out);
  writer.put(kFormatVersion);
  writer.put(envelope.epoch.value());
  writer.put_sized(state.connector);
  writer.put(state.state_version);
  writer.put_sized(state.writer_version);
  writer.put(state.sequence);
  writer.put(state.in);
  encode(writer, state.accounting);
  writer.put_sized(state.bytes);
  return out;
}

Result<StateEnvelope> decode_envelope(Bytes bytes) {
  ByteReader reader(bytes);
  const auto version = reader.get<std::uint16_t>();
  if (!version) return fail(Errc::kMalformed, "source state: empty");
  SLUICE_CHECK(check_op_version("source state", *version));
  const auto epoch = reader.get<std::uint64_t>();
  auto connector = get_op_text(reader);
  const auto state_version = reader.get<std::uint32_t>();
  auto writer_version = get_op_text(reader);
  const auto sequence = reader.get<std::uint64_t>();
  const auto in = reader.get<std::uint64_t>();
  const auto accounting = decode_accounting(reader);
  const auto opaque = reader.get_sized();
  if (!opaque || !reader.finished()) return fail(Errc::kMalformed, "source state: cut short, or bytes left over at the end");
  SourceState state{.connector = *std::move(connector),
                    .state_version = *state_version,
                    .writer_version = *std::move(writer_version),
                    .sequence = *sequence,
                    .accounting = *accounting,
                    .in = *in,
                    .bytes = ByteVector(opaque->begin(), opaque->end())};
  if (const auto valid = validate(state); !valid) return fail(Errc::kMalformed, "source state: " + valid.error().message());
  return StateEnvelope{Epoch(*epoch), std::move(state)};
}

}  // namespace sluice::partition
