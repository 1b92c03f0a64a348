// SPDX-License-Identifier: Apache-2.0
// Entries: whatever verifies is consistent, and says the same when it is verified again.
#include <cstddef>
#include <cstdint>

#include "core/base/assert.hpp"
#include "core/base/checksum.hpp"
#include "core/entry/entry.hpp"

namespace {

using sluice::Bytes;
using sluice::ByteVector;
using sluice::U128;
using sluice::entry::EntryView;
using sluice::entry::kEntryHeaderBytes;

void store_checksum(ByteVector& bytes, std::size_t at, Bytes of) {
  const U128 sum = sluice::xxh3_128(of);
  sluice::store_le(bytes.data() + at, sum.low);
  sluice::store_le(bytes.data() + at + 8, sum.high);
}

void check_one(Bytes bytes) {
  const auto view = EntryView::verify_front(bytes);
  if (!view) return;
  const auto& header = view->header();
  SLUICE_ASSERT(header.stored_bytes() == view->bytes().size() && view->bytes().size() <= bytes.size());
  SLUICE_ASSERT(header.next_offset >= header.base_offset && header.commit < header.op);
  SLUICE_ASSERT(EntryView::verify(view->bytes())->header() == header);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input(reinterpret_cast<const std::byte*>(data), size);
  check_one(input);
  // A fuzzer finds no hashes: the same bytes with right checksums reach the checks behind them.
  if (size < kEntryHeaderBytes) return 0;
  ByteVector bytes(input.begin(), input.end());
  const std::size_t claimed = sluice::load_le<std::uint32_t>(bytes.data() + 68);
  if (claimed >= kEntryHeaderBytes && claimed <= size)
    store_checksum(bytes, 16, Bytes(bytes).subspan(kEntryHeaderBytes, claimed - kEntryHeaderBytes));
  store_checksum(bytes, 0, Bytes(bytes).subspan(16, kEntryHeaderBytes - 16));
  check_one(bytes);
  return 0;
}
