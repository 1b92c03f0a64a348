// SPDX-License-Identifier: Apache-2.0
#include "core/log/frontier.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/checksum.hpp"
#include "core/base/mutation.hpp"
#include "core/log/errc.hpp"

namespace sluice::log {
namespace {

constexpr std::uint64_t kFrontierMagic = 0x544E4F5246494C53;  // "SLIFRONT"
constexpr std::size_t kFrontierChecksumAt = 496;

bool is_all_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

Frontier seal_of(Op segment, const LogPoint& end) {
  return {.kind = Frontier::Kind::kSealed,
          .sequence = 0,
          .epoch = 0,
          .segment = segment,
          .durable = end,
          .limit = {end.head.op, end.head.next_offset}};
}

ByteVector encode_frontier(const Frontier& frontier) {
  ByteVector out;
  out.reserve(kFrontierSlotBytes);
  ByteWriter writer(out);
  writer.put(kFrontierMagic);
  writer.put(static_cast<std::uint32_t>(frontier.kind));
  writer.put(std::uint32_t{0});
  writer.put(frontier.sequence);
  writer.put(frontier.epoch);
  writer.put(frontier.segment.value());
  writer.put(frontier.durable.head.op.value());
  writer.put(frontier.durable.head.next_offset.value());
  writer.put(frontier.durable.head.last_timestamp.value());
  writer.put(frontier.durable.head.id);
  writer.put(frontier.durable.position);
  writer.put(frontier.limit.op.value());
  writer.put(frontier.limit.offset.value());
  writer.put_zeros(kFrontierChecksumAt - out.size());
  writer.put(xxh3_128(out));
  SLUICE_ASSERT(out.size() == kFrontierSlotBytes, "size {}", out.size());
  return out;
}

Result<std::optional<Frontier>> decode_frontier(Bytes bytes) {
  if (bytes.size() != kFrontierSlotBytes)
    return fail(Errc::kDamagedSegment, fmt::format("{} bytes where a frontier slot of {} belongs", bytes.size(), kFrontierSlotBytes));
  if (is_all_zero(bytes)) return std::nullopt;
  ByteReader reader(bytes);
  const auto magic = reader.get<std::uint64_t>();
  const Bytes checksum = bytes.subspan(kFrontierChecksumAt);
  const U128 stored{load_le<std::uint64_t>(checksum.data()), load_le<std::uint64_t>(checksum.data() + 8)};
  if (magic != kFrontierMagic || xxh3_128(bytes.first(kFrontierChecksumAt)) != stored)
    return fail(Errc::kDamagedSegment, "a frontier slot does not match its checksum");
  const auto kind = reader.get<std::uint32_t>();
  const auto spare = reader.get<std::uint32_t>();
  Frontier out;
  out.kind = static_cast<Frontier::Kind>(*kind);
  out.sequence = *reader.get<std::uint64_t>();
  out.epoch = *reader.get<std::uint64_t>();
  out.segment = Op{*reader.get<std::uint64_t>()};
  out.durable.head.op = Op{*reader.get<std::uint64_t>()};
  out.durable.head.next_offset = Offset{*reader.get<std::uint64_t>()};
  out.durable.head.last_timestamp = TimestampUs{*reader.get<std::int64_t>()};
  out.durable.head.id = *reader.get_u128();
  out.durable.position = *reader.get<std::uint64_t>();
  out.limit.op = Op{*reader.get<std::uint64_t>()};
  out.limit.offset = Offset{*reader.get<std::uint64_t>()};
  const bool known = kind == 1U || kind == 2U;
  if (!known || spare != 0U || !is_all_zero(bytes.subspan(reader.position(), kFrontierChecksumAt - reader.position())))
    return fail(Errc::kNewerFormat, "a frontier slot with fields that this release does not know");
  if (out.durable.position < kSegmentPageBytes || !out.limit.covers(out.durable.head) || out.durable.head.op.next() < out.segment)
    return fail(Errc::kDamagedSegment, "a frontier slot field has an impossible value");
  return out;
}

ByteVector encode_first_page(const SegmentPage& page, const Frontier& frontier) {
  ByteVector out = encode_segment_page(page);
  const ByteVector slot = encode_frontier(frontier);
  std::copy(slot.begin(), slot.end(), out.begin() + static_cast<std::ptrdiff_t>(frontier_position(0)));
  return out;
}

Result<SegmentSlots> read_slots(Bytes page, Op segment) {
  SegmentSlots out;
  std::size_t seals = 0;
  for (std::size_t slot = 0; slot < kFrontierSlots; ++slot) {
    auto found = decode_frontier(page.subspan(frontier_position(slot), kFrontierSlotBytes));
    if (!found && found.error().is(Errc::kNewerFormat)) return fail(std::move(found).error());
    if (!found || (*found && (*found)->segment != segment)) {
      out.damaged = true;
      continue;
    }
    if (!*found) continue;
    if ((*found)->kind == Frontier::Kind::kSealed) ++seals;
    const bool newer = !out.newest || (!out.sealed() && ((*found)->kind == Frontier::Kind::kSealed ||
                                                         ((*found)->sequence > out.newest->sequence) != SLUICE_MUTATED(kOlderSlotTaken)));
    if (!newer) continue;
    out.newest = **found;
    out.slot = slot;
  }
  out.both_sealed = seals == kFrontierSlots;
  return out;
}

}  // namespace sluice::log
