// SPDX-License-Identifier: Apache-2.0
#include <sluice/record.hpp>

#include <array>
#include <charconv>

namespace sluice {
namespace {

void append_hex(std::uint64_t value, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(value >> shift) & 0xF];
}

void append_number(std::uint64_t value, std::string& out) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

// Batch and origin name the same coordinates under the same names.
template <typename Coordinates>
void append_coordinates(const Coordinates& at, std::uint64_t offset, std::string& out) {
  append_hex(at.cluster_id_high, out);
  append_hex(at.cluster_id_low, out);
  out += ':';
  out += view(at.stream);
  out += ':';
  out += view(at.topic);
  for (const std::uint64_t number : {std::uint64_t{at.partition}, at.incarnation, offset}) {
    out += ':';
    append_number(number, out);
  }
}

}  // namespace

void append_dedup_key(const Batch& batch, const Record& record, std::string& out) {
  const sluice_record& abi = record.abi();
  if (abi.origin != nullptr) {
    append_coordinates(*abi.origin, abi.origin->offset, out);
  } else {
    append_coordinates(batch.abi(), abi.offset, out);
  }
  if ((abi.flags & SLUICE_RECORD_IS_PART) == 0) return;
  out += ':';
  append_number(abi.part_index, out);
}

std::string dedup_key(const Batch& batch, const Record& record) {
  std::string key;
  append_dedup_key(batch, record, key);
  return key;
}

std::string Assignment::cluster_id() const {
  std::string id;
  append_hex(abi_->cluster_id_high, id);
  append_hex(abi_->cluster_id_low, id);
  return id;
}

}  // namespace sluice
