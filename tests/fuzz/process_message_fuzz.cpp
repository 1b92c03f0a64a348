// SPDX-License-Identifier: Apache-2.0
// What a plugin's process says to the daemon. The first byte of the input chooses the decoder; what decodes is said in the same bytes
// again.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/assert.hpp"
#include "runtime/isolation/message.hpp"

namespace {

using namespace sluice;
using namespace sluice::isolation;

void check_same(const ByteVector& encoded, Bytes read) {
  SLUICE_ASSERT(std::ranges::equal(encoded, read));
}

void check_outcome(Bytes bytes) {
  ByteReader in(bytes);
  const auto outcome = get_outcome(in);
  if (!outcome || !outcome->retry_after) return;  // a negative hint is none
  ByteVector again;
  ByteWriter out(again);
  put_outcome(out, *outcome);
  check_same(again, bytes.first(in.position()));
}

void check_record(Bytes bytes) {
  ByteReader in(bytes);
  ReadRecord record;
  if (!record.read(in)) return;
  ByteVector again;
  ByteWriter out(again);
  put_record(out, record.abi());
  SLUICE_ASSERT(again.size() <= encoded_bytes(record.abi()) || record.abi().origin != nullptr);
  ByteReader second_in(again);
  ReadRecord second;
  SLUICE_ASSERT(second.read(second_in) && second_in.finished());
}

void check_batch(Bytes bytes) {
  ByteReader in(bytes);
  ReadBatch batch;
  if (!batch.read(in)) return;
  ByteVector again;
  ByteWriter out(again);
  put_batch(out, batch.abi());
  ByteReader second_in(again);
  ReadBatch second;
  SLUICE_ASSERT(second.read(second_in) && second_in.finished());
}

void check_assignment(Bytes bytes) {
  ByteReader in(bytes);
  sluice_assignment assignment;
  if (!get(in, assignment)) return;
  ByteVector again;
  ByteWriter out(again);
  put_assignment(out, assignment);
  check_same(again, bytes.first(in.position()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      check_outcome(bytes);
      break;
    case 1:
      check_record(bytes);
      break;
    case 2:
      check_batch(bytes);
      break;
    default:
      check_assignment(bytes);
      break;
  }
  return 0;
}
