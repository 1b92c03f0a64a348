// SPDX-License-Identifier: Apache-2.0
// Text on its way to people: logs, terminals, API answers. All functions are pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::text {

// What a masked secret looks like.
inline constexpr std::string_view kMask = "***";

[[nodiscard]] bool is_valid_utf8(std::string_view text);
// Every byte that is not part of a valid sequence becomes U+FFFD.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);
// Control characters (C0, DEL, C1) become \n, \t, \r or \xNN, so that a text can neither forge a log line nor drive a terminal.
[[nodiscard]] std::string escape_control(std::string_view text);
// At most bytes_max bytes, never inside a UTF-8 sequence; what was cut is marked by "…", which counts.
[[nodiscard]] std::string cut(std::string_view text, std::size_t bytes_max);
// Every occurrence of every non-empty secret becomes kMask, longer secrets first.
[[nodiscard]] std::string mask(std::string_view text, std::span<const std::string> secrets);
// All four in the right order: for any text that a plugin or a peer has given.
[[nodiscard]] std::string printable(std::string_view text, std::size_t bytes_max, std::span<const std::string> secrets = {});

// The secrets in a URL's userinfo ("user:password" of scheme://user:password@host, then the password), raw and percent-decoded; empty if it
// has none.
[[nodiscard]] std::vector<std::string> url_secrets(std::string_view text);

}  // namespace sluice::text
