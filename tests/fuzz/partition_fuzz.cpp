// SPDX-License-Identifier: Apache-2.0
// What a partition keeps beside its records: ops, source states, the state of a checkpoint (consumer offsets among it). The first byte of
// the input chooses the decoder. What decodes says the same when it is encoded and decoded again; a shorter, older form need not encode
// to the same bytes.
#include <cstddef>
#include <cstdint>

#include "core/base/assert.hpp"
#include "core/partition/op.hpp"
#include "core/partition/partition_state.hpp"

namespace {

using sluice::Bytes;
using sluice::partition::PartitionState;

void check_op(Bytes bytes) {
  const auto op = sluice::partition::decode_op(bytes);
  if (!op) return;
  SLUICE_ASSERT(sluice::partition::decode_op(sluice::partition::encode(*op)).value() == *op);
  // Whether it may be applied is another question; to ask it must be harmless.
  (void)PartitionState().check(*op);
}

void check_envelope(Bytes bytes) {
  const auto envelope = sluice::partition::decode_envelope(bytes);
  if (!envelope || !sluice::partition::validate(envelope->state)) return;
  SLUICE_ASSERT(sluice::partition::decode_envelope(sluice::partition::encode_envelope(*envelope)).value() == *envelope);
}

void check_checkpoint(Bytes bytes) {
  const auto state = PartitionState::decode_checkpoint(bytes);
  if (!state) return;
  SLUICE_ASSERT(PartitionState::decode_checkpoint(state->encode_checkpoint()).value() == *state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      check_op(bytes);
      break;
    case 1:
      check_envelope(bytes);
      break;
    default:
      check_checkpoint(bytes);
      break;
  }
  return 0;
}
