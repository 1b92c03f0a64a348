// SPDX-License-Identifier: Apache-2.0
// Text that came from elsewhere (a plugin, a peer, a file) on its way into a log, a status or a terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

inline constexpr std::string_view kCutMark = "…";
inline constexpr std::string_view kSecretMask = "***";

// True if the bytes are well-formed UTF-8 (no surrogates, no overlong forms, nothing above U+10FFFF).
[[nodiscard]] bool is_utf8(std::string_view bytes);

// Printable, valid UTF-8 of at most `bytes_max` bytes (≥ the cut mark): bytes that are not UTF-8 become U+FFFD, control characters become
// escapes such as \n and \x1b, a cut is marked and never splits a character.
[[nodiscard]] std::string clean_text(std::string_view raw, std::size_t bytes_max);

// clean_text with every occurrence of a secret replaced by kSecretMask before the cut, so that no part of one is left over. Empty secrets
// are ignored.
[[nodiscard]] std::string clean_text(std::string_view raw, std::size_t bytes_max, std::span<const std::string> secrets);

}  // namespace sluice
