// SPDX-License-Identifier: Apache-2.0
#include <sluice/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice {
namespace {

// Bytes of the sequence that starts here; 0 if it is not well-formed. Table 3-7 of the Unicode standard.
std::size_t utf8_sequence_bytes(const unsigned char* at, std::size_t left) {
  const unsigned char lead = at[0];
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || left < bytes) return 0;
  unsigned char lowest = 0x80;
  unsigned char highest = 0xBF;
  if (lead == 0xE0) lowest = 0xA0;
  if (lead == 0xED) highest = 0x9F;
  if (lead == 0xF0) lowest = 0x90;
  if (lead == 0xF4) highest = 0x8F;
  if (at[1] < lowest || at[1] > highest) return 0;
  for (std::size_t i = 2; i < bytes; ++i) {
    if ((at[i] & 0xC0) != 0x80) return 0;
  }
  return bytes;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  while (left > 0) {
    std::uint64_t word = 0;
    if (left >= sizeof(word)) {
      std::memcpy(&word, at, sizeof(word));
      if ((word & 0x8080808080808080ULL) == 0) {
        at += sizeof(word);
        left -= sizeof(word);
        continue;
      }
    }
    const std::size_t taken = utf8_sequence_bytes(at, left);
    if (taken == 0) return false;
    at += taken;
    left -= taken;
  }
  return true;
}

}  // namespace sluice
