// SPDX-License-Identifier: Apache-2.0
// Message frames: what decodes encodes to the same bytes, and its headers walk to their end.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/assert.hpp"
#include "core/entry/message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sluice::Bytes input(reinterpret_cast<const std::byte*>(data), size);
  const auto message = sluice::entry::decode_message(input);
  if (!message) return 0;
  std::size_t header_bytes = 0;
  for (const sluice::HeaderView header : message->record.headers) {
    header_bytes += sluice::HeadersView::kPrefixBytes + header.name.size() + header.value.size();
  }
  SLUICE_ASSERT(header_bytes == message->record.headers.encoded().size());
  sluice::ByteVector again;
  SLUICE_ASSERT(sluice::entry::append_message(again, message->record, message->deltas).has_value());
  SLUICE_ASSERT(std::ranges::equal(again, input.first(message->frame_bytes)));
  return 0;
}
