// SPDX-License-Identifier: Apache-2.0
#include "core/entry/entry.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/checksum.hpp"
#include "core/base/mutation.hpp"

namespace sluice::entry {
namespace {

// Field positions of the entry header.
namespace at {
constexpr std::size_t kIdentity = 0;
constexpr std::size_t kBodyChecksum = 16;
constexpr std::size_t kParent = 32;
constexpr std::size_t kClient = 48;
constexpr std::size_t kMagic = 64;
constexpr std::size_t kSize = 68;
constexpr std::size_t kGroup = 72;
constexpr std::size_t kIncarnation = 80;
constexpr std::size_t kOp = 88;
constexpr std::size_t kCommit = 96;
constexpr std::size_t kRequest = 104;
constexpr std::size_t kBaseOffset = 112;
constexpr std::size_t kNextOffset = 120;
constexpr std::size_t kBaseTimestamp = 128;
constexpr std::size_t kMinOriginTimestamp = 136;
constexpr std::size_t kMessageCount = 144;
constexpr std::size_t kMessagesBytes = 148;
constexpr std::size_t kView = 152;
constexpr std::size_t kRelease = 156;
constexpr std::size_t kKind = 160;
constexpr std::size_t kCodec = 161;
constexpr std::size_t kFlags = 162;
constexpr std::size_t kReserved = 164;
}  // namespace at

void store_u128(std::byte* to, U128 value) {
  store_le(to, value.low);
  store_le(to + 8, value.high);
}
U128 load_u128(const std::byte* from) {
  return {load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8)};
}

// Without a way out in the middle, so that it takes many bytes at a time.
bool all_zero(Bytes bytes) {
  std::byte any{0};
  for (const std::byte b : bytes) any |= b;
  return any == std::byte{0};
}

U128 header_identity(const std::byte* header) {
  return xxh3_128({header + at::kBodyChecksum, kEntryHeaderBytes - at::kBodyChecksum});
}

void encode_header(std::byte* to, EntryHeader& header) {
  store_u128(to + at::kBodyChecksum, header.body_checksum);
  store_u128(to + at::kParent, header.parent);
  store_u128(to + at::kClient, header.client);
  store_le(to + at::kMagic, kEntryMagic);
  store_le(to + at::kSize, header.size);
  store_le(to + at::kGroup, header.group.value());
  store_le(to + at::kIncarnation, header.incarnation.value());
  store_le(to + at::kOp, header.op.value());
  store_le(to + at::kCommit, header.commit.value());
  store_le(to + at::kRequest, header.request.value());
  store_le(to + at::kBaseOffset, header.base_offset.value());
  store_le(to + at::kNextOffset, header.next_offset.value());
  store_le(to + at::kBaseTimestamp, header.base_timestamp.value());
  store_le(to + at::kMinOriginTimestamp, header.min_origin_timestamp.value());
  store_le(to + at::kMessageCount, header.message_count);
  store_le(to + at::kMessagesBytes, header.messages_bytes);
  store_le(to + at::kView, header.view.value());
  store_le(to + at::kRelease, header.release);
  store_le(to + at::kKind, static_cast<std::uint8_t>(header.kind));
  store_le(to + at::kCodec, static_cast<std::uint8_t>(header.codec));
  store_le(to + at::kFlags, header.flags);
  std::memset(to + at::kReserved, 0, kEntryHeaderBytes - at::kReserved);
  header.identity = header_identity(to);
  store_u128(to + at::kIdentity, header.identity);
}

void load_header(const std::byte* from, EntryHeader& out) {
  out.identity = load_u128(from + at::kIdentity);
  out.body_checksum = load_u128(from + at::kBodyChecksum);
  out.parent = load_u128(from + at::kParent);
  out.client = load_u128(from + at::kClient);
  out.size = load_le<std::uint32_t>(from + at::kSize);
  out.group = GroupId{load_le<std::uint64_t>(from + at::kGroup)};
  out.incarnation = Incarnation{load_le<std::uint64_t>(from + at::kIncarnation)};
  out.op = Op{load_le<std::uint64_t>(from + at::kOp)};
  out.commit = Op{load_le<std::uint64_t>(from + at::kCommit)};
  out.request = RequestNumber{load_le<std::uint64_t>(from + at::kRequest)};
  out.base_offset = Offset{load_le<std::uint64_t>(from + at::kBaseOffset)};
  out.next_offset = Offset{load_le<std::uint64_t>(from + at::kNextOffset)};
  out.base_timestamp = TimestampUs{load_le<std::int64_t>(from + at::kBaseTimestamp)};
  out.min_origin_timestamp = TimestampUs{load_le<std::int64_t>(from + at::kMinOriginTimestamp)};
  out.message_count = load_le<std::uint32_t>(from + at::kMessageCount);
  out.messages_bytes = load_le<std::uint32_t>(from + at::kMessagesBytes);
  out.view = View{load_le<std::uint32_t>(from + at::kView)};
  out.release = load_le<std::uint32_t>(from + at::kRelease);
  out.kind = static_cast<EntryKind>(load_le<std::uint8_t>(from + at::kKind));
  out.codec = static_cast<Codec>(load_le<std::uint8_t>(from + at::kCodec));
  out.flags = load_le<std::uint16_t>(from + at::kFlags);
}

// The fields that belong together, by kind. The offsets of a kind that holds no messages stand still.
Result<void> check_shape(const EntryHeader& h) {
  const std::size_t body = h.size - kEntryHeaderBytes;
  if (h.op.value() == 0 || h.commit >= h.op) return fail(Errc::kBadShape, fmt::format("op {} with commit {}", h.op, h.commit));
  if (h.next_offset < h.base_offset) return fail(Errc::kBadShape, fmt::format("offsets {} to {}", h.base_offset, h.next_offset));
  if (!h.has(flag::kHasClient) && (h.client != ClientId{} || h.request.value() != 0))
    return fail(Errc::kBadShape, "a request without its flag");
  const std::uint64_t offsets = h.next_offset - h.base_offset;
  if (h.kind == EntryKind::kMessages) {
    const bool plausible = h.message_count != 0 && h.messages_bytes <= body && h.messages_bytes / kMessageHeaderBytes >= h.message_count;
    if (!plausible || offsets != h.message_count) {
      return fail(Errc::kBadShape,
                  fmt::format("{} messages in {} of {} bytes over {} offsets", h.message_count, h.messages_bytes, body, offsets));
    }
    if (body - h.messages_bytes > kStateSectionBytesMax)
      return fail(Errc::kBadShape, fmt::format("a state section of {} bytes", body - h.messages_bytes));
    return {};
  }
  if (h.message_count != 0 || h.messages_bytes != 0 || h.min_origin_timestamp.value() != 0)
    return fail(Errc::kBadShape, "message fields in an entry without messages");
  const bool gap = h.kind == EntryKind::kGap;
  if (gap ? body != 0 || offsets == 0 : body == 0 || offsets != 0) {
    return fail(Errc::kBadShape, fmt::format("a {} of {} bytes over {} offsets", to_string(h.kind), body, offsets));
  }
  return {};
}

}  // namespace

std::string_view to_string(EntryKind kind) {
  switch (kind) {
    case EntryKind::kMessages:
      return "messages";
    case EntryKind::kPartitionOp:
      return "partition_op";
    case EntryKind::kCatalogCommand:
      return "catalog_command";
    case EntryKind::kGap:
      return "gap";
  }
  return "unknown";
}

U128 root_identity(GroupId group, Incarnation incarnation) {
  std::array<std::byte, 16> bytes;
  store_le(bytes.data(), group.value());
  store_le(bytes.data() + 8, incarnation.value());
  return xxh3_128(bytes);
}

Result<EntryHeader> decode_entry_header(Bytes bytes) {
  Result<EntryHeader> out;
  if (auto decoded = decode_entry_header(bytes, *out); !decoded) return fail(std::move(decoded).error());
  return out;
}

Result<void> decode_entry_header(Bytes bytes, EntryHeader& header) {
  if (bytes.size() < kEntryHeaderBytes)
    return fail(Errc::kTruncated, fmt::format("{} bytes where an entry header of {} belongs", bytes.size(), kEntryHeaderBytes));
  const std::byte* const from = bytes.data();
  if (load_le<std::uint32_t>(from + at::kMagic) != kEntryMagic) return fail(Errc::kDamaged, "no entry begins here");
  load_header(from, header);
  if (header_identity(from) != header.identity && !SLUICE_MUTATED(kHeaderChecksumIgnored))
    return fail(Errc::kDamaged, "the entry header does not match its checksum");
  if (header.release == 0 || header.release > kEntryRelease)
    return fail(Errc::kNewerRelease, fmt::format("an entry of release {}; this one knows up to {}", header.release, kEntryRelease));
  if (header.codec != Codec::kNone) return fail(Errc::kNewerRelease, fmt::format("unknown codec {}", static_cast<unsigned>(header.codec)));
  if (header.kind < EntryKind::kMessages || header.kind > EntryKind::kGap)
    return fail(Errc::kNewerRelease, fmt::format("unknown entry kind {}", static_cast<unsigned>(header.kind)));
  if ((header.flags & ~flag::kAll) != 0 && !SLUICE_MUTATED(kUnknownFlagsIgnored))
    return fail(Errc::kNewerRelease, fmt::format("unknown entry flags {:#x}", header.flags));
  if (!SLUICE_MUTATED(kReservedBytesIgnored) && !all_zero({from + at::kReserved, kEntryHeaderBytes - at::kReserved}))
    return fail(Errc::kNewerRelease, "reserved bytes of the entry header are not zero");
  if (header.size < kEntryHeaderBytes || header.size > kEntryBytesMax)
    return fail(Errc::kBadShape, fmt::format("an entry of {} bytes", header.size));
  return check_shape(header);
}

Result<EntryView> EntryView::verify_front(Bytes bytes) {
  EntryView out;
  SLUICE_CHECK(out.take_header(bytes));
  SLUICE_CHECK(out.take_body(bytes));
  return out;
}

Result<void> EntryView::take_body(Bytes bytes) {
  const std::size_t stored = header_.stored_bytes();
  if (stored > bytes.size()) return fail(Errc::kTruncated, fmt::format("an entry of {} bytes where {} are left", stored, bytes.size()));
  const bool intact = xxh3_128(bytes.subspan(kEntryHeaderBytes, header_.size - kEntryHeaderBytes)) == header_.body_checksum;
  if (!intact && !SLUICE_MUTATED(kBodyChecksumIgnored)) return fail(Errc::kDamaged, "the entry's body does not match its checksum");
  if (!SLUICE_MUTATED(kPaddingIgnored) && !all_zero(bytes.subspan(header_.size, stored - header_.size)))
    return fail(Errc::kDamaged, "the entry's padding is not zero");
  bytes_ = bytes.first(stored);
  return {};
}

Result<EntryView> EntryView::verify(Bytes bytes) {
  SLUICE_TRY(EntryView view, verify_front(bytes));
  if (view.bytes().size() != bytes.size() && !SLUICE_MUTATED(kTrailingBytesIgnored))
    return fail(Errc::kBadShape, fmt::format("{} bytes follow the entry", bytes.size() - view.bytes().size()));
  return view;
}

EntryDraft EntryDraft::complete(EntryHeader header, ByteVector bytes) {
  header.body_checksum = xxh3_128(Bytes(bytes).subspan(kEntryHeaderBytes));
  bytes.resize(header.stored_bytes());
  return EntryDraft(header, std::move(bytes));
}

Result<EntryDraft> EntryDraft::operation(EntryKind kind, Bytes body) {
  SLUICE_ASSERT(kind == EntryKind::kPartitionOp || kind == EntryKind::kCatalogCommand, "kind {}", to_string(kind));
  if (body.empty()) return fail(Errc::kBadShape, "an operation without a body");
  if (body.size() > kEntryBytesMax - kEntryHeaderBytes)
    return fail(Errc::kBodyTooLarge,
                fmt::format("an operation of {} bytes; at most {} are allowed", body.size(), kEntryBytesMax - kEntryHeaderBytes));
  EntryHeader header;
  header.kind = kind;
  header.size = narrow<std::uint32_t>(kEntryHeaderBytes + body.size());
  ByteVector bytes;
  bytes.reserve(header.stored_bytes());
  bytes.resize(kEntryHeaderBytes);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return complete(header, std::move(bytes));
}

EntryDraft EntryDraft::gap(Offset next) {
  EntryHeader header;
  header.kind = EntryKind::kGap;
  header.size = kEntryHeaderBytes;
  header.next_offset = next;
  return complete(header, ByteVector(kEntryHeaderBytes));
}

void EntryDraft::set_request(ClientId client, RequestNumber request) {
  header_.client = client;
  header_.request = request;
  header_.flags |= flag::kHasClient;
}

SharedEntry EntryDraft::stamp(const EntryStamp& stamp) && {
  SLUICE_ASSERT(stamp.op.value() != 0 && stamp.commit < stamp.op, "op {} commit {}", stamp.op, stamp.commit);
  header_.group = stamp.group;
  header_.incarnation = stamp.incarnation;
  header_.op = stamp.op;
  header_.parent = stamp.parent;
  header_.commit = stamp.commit;
  header_.view = stamp.view;
  header_.base_offset = stamp.base_offset;
  if (header_.kind != EntryKind::kGap) header_.next_offset = stamp.base_offset + header_.message_count;
  const bool gap = header_.kind == EntryKind::kGap;
  SLUICE_ASSERT(gap ? header_.next_offset > header_.base_offset : header_.next_offset >= header_.base_offset, "offsets {} to {}",
                header_.base_offset, header_.next_offset);
  header_.base_timestamp = stamp.timestamp;
  if (stamp.must_sync) header_.flags |= flag::kMustSync;
  if (stamp.first_of_segment) header_.flags |= flag::kFirstOfSegment;
  encode_header(bytes_.data(), header_);
  auto owner = std::make_shared<const ByteVector>(std::move(bytes_));
  const Bytes bytes(*owner);
  return {EntryView(header_, bytes), std::move(owner)};
}

}  // namespace sluice::entry
