// SPDX-License-Identifier: Apache-2.0
// The derived and the small files of a log: index, segment header page, frontier slot, checkpoint. What decodes encodes to the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/assert.hpp"
#include "core/base/checksum.hpp"
#include "core/log/checkpoint.hpp"
#include "core/log/frontier.hpp"
#include "core/log/index.hpp"
#include "core/log/segment_page.hpp"

namespace {

using sluice::Bytes;
using sluice::ByteVector;

constexpr std::ptrdiff_t kPageHeadBytes = 512;

// The input with a checksum of [0, at) at `at`, so that the fields behind it are reached.
ByteVector with_checksum(Bytes input, std::size_t at) {
  ByteVector bytes(input.begin(), input.end());
  const sluice::U128 sum = sluice::xxh3_128(Bytes(bytes).first(at));
  sluice::store_le(bytes.data() + at, sum.low);
  sluice::store_le(bytes.data() + at + 8, sum.high);
  return bytes;
}

void check_index(Bytes input) {
  const auto index = sluice::log::Index::parse(input);
  if (!index) return;
  ByteVector again;
  for (const auto& entry : index->entries()) {
    sluice::log::encode_index_entry(again, entry);
    SLUICE_ASSERT(index->at_or_before(entry.op) == entry);
    SLUICE_ASSERT(index->at_or_before(entry.offset)->position <= entry.position);
  }
  SLUICE_ASSERT(std::ranges::equal(again, input));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input(reinterpret_cast<const std::byte*>(data), size);
  check_index(input);
  if (size >= 96) {
    const ByteVector bytes = with_checksum(input, size - 16);
    if (const auto checkpoint = sluice::log::decode_checkpoint(bytes)) SLUICE_ASSERT(sluice::log::encode_checkpoint(*checkpoint) == bytes);
    ByteVector page(bytes);
    page.resize(sluice::log::kSegmentPageBytes);
    page = with_checksum(page, 496);
    if (const auto decoded = sluice::log::decode_segment_page(page)) {
      // The slots are decoded by themselves.
      const ByteVector again = sluice::log::encode_segment_page(*decoded);
      SLUICE_ASSERT(std::equal(again.begin(), again.begin() + kPageHeadBytes, page.begin()));
    }
    ByteVector slot(input.begin(), input.end());
    slot.resize(sluice::log::kFrontierSlotBytes);
    slot = with_checksum(slot, 496);
    if (const auto decoded = sluice::log::decode_frontier(slot); decoded && *decoded)
      SLUICE_ASSERT(sluice::log::encode_frontier(**decoded) == slot);
  }
  return 0;
}
