// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

namespace sluice {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Length of the well-formed UTF-8 character at the front, or 0.
std::size_t utf8_character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < size) return 0;
  // The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF.
  const std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return size;
}

std::string escape_control(std::uint8_t byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\x{:02x}", byte);
  }
}

// C0, DEL, and the C1 controls U+0080..U+009F, which terminals obey as well.
bool is_control(std::string_view character) {
  const auto lead = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7F;
  return character.size() == 2 && lead == 0xC2 && static_cast<std::uint8_t>(character[1]) < 0xA0;
}

std::string masked(std::string_view raw, bool was_cut, std::span<const std::string> secrets) {
  std::vector<std::string_view> longest_first;
  for (const std::string& secret : secrets) {
    if (!secret.empty()) longest_first.emplace_back(secret);
  }
  std::ranges::sort(longest_first, [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    const std::string_view rest = raw.substr(at);
    const auto hit = std::ranges::find_if(longest_first, [&](std::string_view secret) { return rest.starts_with(secret); });
    if (hit != longest_first.end()) {
      out += kSecretMask;
      at += hit->size();
      continue;
    }
    // A secret that the cut went through: its beginning is a secret too.
    if (was_cut && std::ranges::any_of(longest_first, [&](std::string_view secret) { return secret.starts_with(rest); })) break;
    out += raw[at++];
  }
  return out;
}

std::string cleaned(std::string_view raw, std::size_t bytes_max, bool was_cut) {
  std::string out;
  std::size_t fits = 0;  // length of `out` with which the cut mark still fits
  const std::size_t room = bytes_max > kCutMark.size() ? bytes_max - kCutMark.size() : 0;
  while (!raw.empty()) {
    const std::size_t size = utf8_character_size(raw);
    const std::string_view character = raw.substr(0, std::max<std::size_t>(size, 1));
    if (size == 0) {
      out += kReplacement;
    } else if (is_control(character)) {
      out += escape_control(static_cast<std::uint8_t>(character.back()));
    } else {
      out += character;
    }
    if (out.size() <= room) fits = out.size();
    if (out.size() > bytes_max) {
      was_cut = true;
      break;
    }
    raw.remove_prefix(character.size());
  }
  if (was_cut) {
    out.resize(fits);
    out += kCutMark;
  }
  return out;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t size = utf8_character_size(bytes);
    if (size == 0) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

std::string clean_text(std::string_view raw, std::size_t bytes_max) {
  return clean_text(raw, bytes_max, {});
}

std::string clean_text(std::string_view raw, std::size_t bytes_max, std::span<const std::string> secrets) {
  // A raw text of any length costs only as much as can be shown of it, plus room for what masking shortens.
  constexpr std::size_t kLookAhead = 4;
  const std::string_view head = raw.substr(0, bytes_max * kLookAhead);
  const bool was_cut = head.size() < raw.size();
  if (secrets.empty()) return cleaned(head, bytes_max, was_cut);
  return cleaned(masked(head, was_cut, secrets), bytes_max, was_cut);
}

}  // namespace sluice
