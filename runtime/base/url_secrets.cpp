// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/url_secrets.hpp"

namespace sluice {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

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

}  // namespace sluice
