// SPDX-License-Identifier: Apache-2.0
// Field positions of the message frame, for the encoder and the batch iterator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/entry/limits.hpp"
#include "core/entry/message.hpp"

namespace sluice::entry::frame {

inline constexpr std::size_t kOffsetDelta = 0;
inline constexpr std::size_t kSchemaId = 4;
inline constexpr std::size_t kTimestampDelta = 8;
inline constexpr std::size_t kId = 16;
inline constexpr std::size_t kKeySize = 32;
inline constexpr std::size_t kPayloadSize = 36;
inline constexpr std::size_t kHeadersSize = 40;
inline constexpr std::size_t kFormat = 44;
inline constexpr std::size_t kFlags = 46;
inline constexpr std::size_t kReserved = 47;

inline constexpr std::uint8_t kHasKey = 1u << 0;
inline constexpr std::uint8_t kHasPayload = 1u << 1;

struct Sizes {
  std::uint32_t key = 0;
  std::uint32_t payload = 0;
  std::uint32_t headers = 0;

  [[nodiscard]] std::size_t record() const { return std::size_t{key} + payload + headers; }
  [[nodiscard]] std::size_t frame() const { return kMessageHeaderBytes + record(); }
};
[[nodiscard]] inline Sizes load_sizes(const std::byte* at) {
  return {load_le<std::uint32_t>(at + kKeySize), load_le<std::uint32_t>(at + kPayloadSize), load_le<std::uint32_t>(at + kHeadersSize)};
}

// A frame that decode_message() accepted before.
[[nodiscard]] inline Message decode_checked(const std::byte* at) {
  const Sizes sizes = load_sizes(at);
  const auto flags = load_le<std::uint8_t>(at + kFlags);
  const std::byte* const body = at + kMessageHeaderBytes;
  Message out;
  out.deltas = {load_le<std::uint32_t>(at + kOffsetDelta), load_le<std::uint64_t>(at + kTimestampDelta)};
  out.record.id = {load_le<std::uint64_t>(at + kId), load_le<std::uint64_t>(at + kId + 8)};
  if ((flags & kHasKey) != 0) out.record.key = Bytes(body, sizes.key);
  if ((flags & kHasPayload) != 0) out.record.payload = Bytes(body + sizes.key, sizes.payload);
  out.record.headers = HeadersView::from_checked({body + sizes.key + sizes.payload, sizes.headers});
  out.record.format = load_le<std::uint16_t>(at + kFormat);
  out.record.schema_id = load_le<std::uint32_t>(at + kSchemaId);
  out.frame_bytes = sizes.frame();
  return out;
}

}  // namespace sluice::entry::frame
