// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace sluice::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Length of the well-formed UTF-8 sequence at `at` (Unicode table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF); 0 if
// there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || length > text.size() - at) return 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned next = byte_at(text, at + i);
    if (next < low || next > high) return 0;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    out += length == 0 ? kReplacement : text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string escape_control(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned byte = byte_at(text, i);
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && byte_at(text, i + 1) >= 0x80 && byte_at(text, i + 1) <= 0x9F;
    if (c1) {
      out += fmt::format("\\x{:02x}", byte_at(text, ++i));
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\r') {
      out += "\\r";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string cut(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  if (bytes_max < kEllipsis.size()) return {};
  std::size_t end = bytes_max - kEllipsis.size();
  while (end > 0 && (byte_at(text, end) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)).append(kEllipsis);
}

std::string mask(std::string_view text, std::span<const std::string> secrets) {
  std::vector<std::string_view> longest_first;
  for (const std::string& secret : secrets) {
    if (!secret.empty()) longest_first.push_back(secret);
  }
  std::ranges::sort(longest_first, std::ranges::greater{}, &std::string_view::size);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto found = std::ranges::find_if(longest_first, [&](std::string_view secret) { return text.substr(at).starts_with(secret); });
    if (found == longest_first.end()) {
      out += text[at++];
    } else {
      out += kMask;
      at += found->size();
    }
  }
  return out;
}

std::string printable(std::string_view text, std::size_t bytes_max, std::span<const std::string> secrets) {
  // Masked first: a secret with a control byte in it would not be found after the escaping, nor one that the cut goes through.
  return cut(escape_control(to_valid_utf8(mask(text, secrets))), bytes_max);
}

std::vector<std::string> url_secrets(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos || scheme_end == 0) return {};
  const std::string_view rest = text.substr(scheme_end + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?# \t\r\n\"'"));
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos || at == 0) return {};
  const std::string_view userinfo = authority.substr(0, at);
  std::vector<std::string> out{std::string(userinfo)};
  const std::size_t colon = userinfo.find(':');
  if (colon != std::string_view::npos && colon + 1 < userinfo.size()) out.emplace_back(userinfo.substr(colon + 1));
  for (std::size_t i = 0, count = out.size(); i < count; ++i) {
    std::string decoded = percent_decoded(out[i]);
    if (decoded != out[i]) out.push_back(std::move(decoded));
  }
  return out;
}

}  // namespace sluice::text
