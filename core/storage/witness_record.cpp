// SPDX-License-Identifier: Apache-2.0
#include "core/storage/witness_record.hpp"

#include "core/base/checksum.hpp"
#include "core/base/mutation.hpp"

namespace sluice::storage {
namespace {

constexpr std::uint64_t kWitnessMagic = 0x5353454E54495753ULL;  // "SWITNESS"
constexpr std::size_t kChecksummedBytes = kWitnessSlotBytes - sizeof(std::uint64_t);

// Fills a slot's bytes from the front; the rest stays zero.
class SlotFiller {
 public:
  template <std::integral T>
  void put(T value) {
    store_le(bytes_.data() + at_, value);
    at_ += sizeof(T);
  }
  void put(U128 value) {
    put(value.low);
    put(value.high);
  }
  [[nodiscard]] WitnessSlotBytes finish() {
    store_le(bytes_.data() + kChecksummedBytes, xxh3_64(Bytes(bytes_).first(kChecksummedBytes)));
    return bytes_;
  }

 private:
  WitnessSlotBytes bytes_{};
  std::size_t at_ = 0;
};

bool verifies(Bytes bytes) {
  return bytes.size() == kWitnessSlotBytes &&
         load_le<std::uint64_t>(bytes.data() + kChecksummedBytes) == xxh3_64(bytes.first(kChecksummedBytes));
}

U128 load_u128(const std::byte* from) {
  return {load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8)};
}

}  // namespace

WitnessSlotBytes encode_witness_header(const WitnessHeader& header) {
  SlotFiller out;
  out.put(kWitnessMagic);
  out.put(std::uint64_t{kWitnessVersion});
  out.put(header.cluster);
  out.put(header.generation);
  return out.finish();
}

WitnessSlotBytes encode_witness_slot(const WitnessSlot& slot) {
  SlotFiller out;
  out.put(slot.sequence);
  out.put(slot.record.group.value());
  out.put(slot.record.incarnation.value());
  out.put(slot.record.op.value());
  out.put(slot.record.id);
  out.put(slot.record.commit.value());
  return out.finish();
}

std::optional<WitnessHeader> decode_witness_header(Bytes bytes) {
  if (!verifies(bytes) || load_le<std::uint64_t>(bytes.data()) != kWitnessMagic) return std::nullopt;
  if (load_le<std::uint64_t>(bytes.data() + 8) != kWitnessVersion || load_le<std::uint64_t>(bytes.data() + 48) != 0) return std::nullopt;
  return WitnessHeader{load_u128(bytes.data() + 16), load_u128(bytes.data() + 32)};
}

std::optional<WitnessSlot> decode_witness_slot(Bytes bytes) {
  if (!verifies(bytes)) return std::nullopt;
  const auto word = [&](std::size_t at) { return load_le<std::uint64_t>(bytes.data() + at); };
  if (word(0) == 0) return std::nullopt;
  return WitnessSlot{word(0), {GroupId(word(8)), Incarnation(word(16)), Op(word(24)), load_u128(bytes.data() + 32), Op(word(48))}};
}

std::vector<WitnessRecord> decode_witness_file(Bytes file, const WitnessHeader& wanted) {
  std::vector<WitnessRecord> out;
  if (file.size() < kWitnessHeaderBytes) return out;
  if (decode_witness_header(file.first(kWitnessSlotBytes)) != wanted && !SLUICE_MUTATED(kWitnessOfAnotherRun)) return out;
  for (Bytes rest = file.subspan(kWitnessHeaderBytes); rest.size() >= kWitnessCellBytes; rest = rest.subspan(kWitnessCellBytes)) {
    const auto first = decode_witness_slot(rest.first(kWitnessSlotBytes));
    const auto second = decode_witness_slot(rest.subspan(kWitnessSlotBytes, kWitnessSlotBytes));
    if (first && (!second || first->sequence > second->sequence)) {
      out.push_back(first->record);
    } else if (second) {
      out.push_back(second->record);
    }
  }
  return out;
}

}  // namespace sluice::storage
