// SPDX-License-Identifier: Apache-2.0
#include "core/entry/message.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/entry/errc.hpp"
#include "core/entry/frame.hpp"

namespace sluice::entry {

std::size_t record_bytes(const RecordView& record) {
  return (record.key ? record.key->size() : 0) + (record.payload ? record.payload->size() : 0) + record.headers.encoded().size();
}

Result<void> append_message(ByteVector& out, const RecordView& record, FrameDeltas deltas) {
  const std::size_t size = record_bytes(record);
  if (size > kRecordBytesMax) {
    return fail(Errc::kRecordTooLarge, fmt::format("a record of {} bytes; at most {} are allowed", size, kRecordBytesMax));
  }
  const Bytes key = record.key.value_or(Bytes{});
  const Bytes payload = record.payload.value_or(Bytes{});
  const Bytes headers = record.headers.encoded();

  const std::size_t begin = out.size();
  out.resize(begin + kMessageHeaderBytes + size);
  std::byte* const at = out.data() + begin;
  store_le(at + frame::kOffsetDelta, deltas.offset);
  store_le(at + frame::kSchemaId, record.schema_id);
  store_le(at + frame::kTimestampDelta, deltas.timestamp);
  store_le(at + frame::kId, record.id.low);
  store_le(at + frame::kId + 8, record.id.high);
  store_le(at + frame::kKeySize, narrow<std::uint32_t>(key.size()));
  store_le(at + frame::kPayloadSize, narrow<std::uint32_t>(payload.size()));
  store_le(at + frame::kHeadersSize, narrow<std::uint32_t>(headers.size()));
  store_le(at + frame::kFormat, record.format);
  const int flags = (record.key ? frame::kHasKey : 0) | (record.payload ? frame::kHasPayload : 0);
  store_le(at + frame::kFlags, static_cast<std::uint8_t>(flags));
  store_le(at + frame::kReserved, std::uint8_t{0});

  std::byte* body = at + kMessageHeaderBytes;
  for (const Bytes part : {key, payload, headers}) body = std::copy(part.begin(), part.end(), body);
  return {};
}

Result<Message> decode_message(Bytes bytes) {
  if (bytes.size() < kMessageHeaderBytes)
    return fail(Errc::kBadShape, fmt::format("{} bytes where a message header of {} belongs", bytes.size(), kMessageHeaderBytes));
  const frame::Sizes sizes = frame::load_sizes(bytes.data());
  if (sizes.record() > kRecordBytesMax)
    return fail(Errc::kBadShape, fmt::format("a message of {} bytes; at most {} are allowed", sizes.record(), kRecordBytesMax));
  if (sizes.frame() > bytes.size())
    return fail(Errc::kBadShape, fmt::format("a message of {} bytes where {} are left", sizes.frame(), bytes.size()));
  const auto flags = load_le<std::uint8_t>(bytes.data() + frame::kFlags);
  const auto reserved = load_le<std::uint8_t>(bytes.data() + frame::kReserved);
  const bool known = (flags & ~(frame::kHasKey | frame::kHasPayload)) == 0 && reserved == 0;
  if (!known && !SLUICE_MUTATED(kMessageReservedIgnored)) return fail(Errc::kBadShape, "unknown flags in a message header");
  if ((flags & frame::kHasKey) == 0 && sizes.key != 0) return fail(Errc::kBadShape, "an absent key with a size");
  if ((flags & frame::kHasPayload) == 0 && sizes.payload != 0) return fail(Errc::kBadShape, "an absent payload with a size");
  SLUICE_CHECK(HeadersView::parse(bytes.subspan(kMessageHeaderBytes + std::size_t{sizes.key} + sizes.payload, sizes.headers)));
  return frame::decode_checked(bytes.data());
}

}  // namespace sluice::entry
