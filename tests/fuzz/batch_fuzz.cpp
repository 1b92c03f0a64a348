// SPDX-License-Identifier: Apache-2.0
// Batches: the input is the body of an entry whose checksums hold. What parses is walked to its end, and encodes to the same bytes again.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/assert.hpp"
#include "core/base/checksum.hpp"
#include "core/entry/batch.hpp"

namespace {

using sluice::Bytes;
using sluice::ByteVector;
using namespace sluice::entry;

void store_identity(ByteVector& bytes, std::size_t at, Bytes of) {
  const sluice::U128 sum = sluice::xxh3_128(of);
  sluice::store_le(bytes.data() + at, sum.low);
  sluice::store_le(bytes.data() + at + 8, sum.high);
}

// An entry around the body that claims `count` messages in `messages_bytes`.
ByteVector entry_around(Bytes body, std::uint32_t count, std::uint32_t messages_bytes) {
  ByteVector bytes(kEntryHeaderBytes);
  bytes.insert(bytes.end(), body.begin(), body.end());
  sluice::store_le(bytes.data() + 64, kEntryMagic);
  sluice::store_le(bytes.data() + 68, static_cast<std::uint32_t>(bytes.size()));
  sluice::store_le(bytes.data() + 88, std::uint64_t{1});
  sluice::store_le(bytes.data() + 120, std::uint64_t{count});
  sluice::store_le(bytes.data() + 144, count);
  sluice::store_le(bytes.data() + 148, messages_bytes);
  sluice::store_le(bytes.data() + 156, kEntryRelease);
  sluice::store_le(bytes.data() + 160, static_cast<std::uint8_t>(EntryKind::kMessages));
  sluice::store_le(bytes.data() + 161, static_cast<std::uint8_t>(Codec::kNone));
  store_identity(bytes, 16, Bytes(bytes).subspan(kEntryHeaderBytes));
  store_identity(bytes, 0, Bytes(bytes).subspan(16, kEntryHeaderBytes - 16));
  bytes.resize(sluice::round_up(bytes.size(), kEntryAlignment));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  const Bytes input(reinterpret_cast<const std::byte*>(data), size);
  const std::uint32_t count = data[0];
  const Bytes body = input.subspan(5);
  const ByteVector bytes = entry_around(body, count, sluice::load_le<std::uint32_t>(input.data() + 1));
  const auto view = EntryView::verify(bytes);
  if (!view) return 0;
  const auto batch = BatchView::parse(*view);
  if (!batch) return 0;
  std::uint32_t seen = 0;
  BatchBuilder again;
  for (const PositionedRecord record : *batch) {
    SLUICE_ASSERT(record.offset.value() == seen);
    SLUICE_ASSERT(again.add(record.record).has_value());
    ++seen;
  }
  SLUICE_ASSERT(seen == count && seen == again.count());
  return 0;
}
