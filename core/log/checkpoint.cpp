// SPDX-License-Identifier: Apache-2.0
#include "core/log/checkpoint.hpp"

#include <fmt/format.h>

#include "core/base/checksum.hpp"
#include "core/log/errc.hpp"

namespace sluice::log {
namespace {

constexpr std::uint64_t kCheckpointMagic = 0x54504B4349554C53;  // "SLUICKPT"
constexpr std::uint32_t kCheckpointVersion = 1;
constexpr std::size_t kCheckpointHeadBytes = 80;
constexpr std::size_t kCheckpointChecksumBytes = 16;

}  // namespace

ByteVector encode_checkpoint(const Checkpoint& checkpoint) {
  ByteVector out;
  out.reserve(kCheckpointHeadBytes + checkpoint.body.size() + kCheckpointChecksumBytes);
  ByteWriter writer(out);
  writer.put(kCheckpointMagic);
  writer.put(kCheckpointVersion);
  writer.put(std::uint32_t{0});
  writer.put(checkpoint.group.value());
  writer.put(checkpoint.incarnation.value());
  writer.put(checkpoint.op.value());
  writer.put(checkpoint.next_offset.value());
  writer.put(checkpoint.id);
  writer.put(static_cast<std::uint64_t>(checkpoint.body.size()));
  writer.put(std::uint64_t{0});
  SLUICE_ASSERT(out.size() == kCheckpointHeadBytes, "size {}", out.size());
  writer.put_bytes(checkpoint.body);
  writer.put(xxh3_128(out));
  return out;
}

Result<Checkpoint> decode_checkpoint(Bytes bytes) {
  if (bytes.size() < kCheckpointHeadBytes + kCheckpointChecksumBytes)
    return fail(Errc::kDamagedCheckpoint, fmt::format("a checkpoint of {} bytes", bytes.size()));
  const Bytes covered = bytes.first(bytes.size() - kCheckpointChecksumBytes);
  const std::byte* const checksum = bytes.data() + covered.size();
  if (xxh3_128(covered) != U128{load_le<std::uint64_t>(checksum), load_le<std::uint64_t>(checksum + 8)}) {
    return fail(Errc::kDamagedCheckpoint, "the checkpoint does not match its checksum");
  }
  ByteReader reader(covered);
  if (reader.get<std::uint64_t>() != kCheckpointMagic) return fail(Errc::kDamagedCheckpoint, "this is no checkpoint");
  const auto version = reader.get<std::uint32_t>();
  if (version != kCheckpointVersion)
    return fail(Errc::kNewerFormat, fmt::format("a checkpoint of version {}; this release knows {}", *version, kCheckpointVersion));
  const auto spare = reader.get<std::uint32_t>();
  Checkpoint out;
  out.group = GroupId{*reader.get<std::uint64_t>()};
  out.incarnation = Incarnation{*reader.get<std::uint64_t>()};
  out.op = Op{*reader.get<std::uint64_t>()};
  out.next_offset = Offset{*reader.get<std::uint64_t>()};
  out.id = *reader.get_u128();
  const auto body_bytes = reader.get<std::uint64_t>();
  const auto spare_word = reader.get<std::uint64_t>();
  if (spare != 0U || spare_word != 0U || body_bytes != reader.remaining() || out.op.value() == 0)
    return fail(Errc::kDamagedCheckpoint, "a checkpoint field has an impossible value");
  const Bytes body = *reader.get_bytes(reader.remaining());
  out.body.assign(body.begin(), body.end());
  return out;
}

}  // namespace sluice::log
