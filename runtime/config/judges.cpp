// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/judges.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "runtime/base/parse_number.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/time_format.hpp"

namespace sluice::config {
namespace {

constexpr std::size_t kShownBytesMax = 100;
constexpr std::size_t kTopicNamePartBytesMax = 128;

const std::string& text_of(const Tree& value) {
  return std::get<std::string>(value.value);
}
std::string shown(const Tree& value) {
  return clean_text(text_of(value), kShownBytesMax);
}

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alphanumeric(char c) {
  return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

bool is_port(std::string_view text) {
  return parse_number<std::uint16_t>(text).has_value();
}

// Four decimal numbers up to 255.
bool is_ipv4(std::string_view host) {
  int parts = 0;
  while (true) {
    const std::string_view part = host.substr(0, host.find('.'));
    if (!parse_number<std::uint8_t>(part)) return false;
    ++parts;
    if (part.size() == host.size()) return parts == 4;
    host.remove_prefix(part.size() + 1);
  }
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || (host.starts_with("127.") && is_ipv4(host));
}

}  // namespace

bool is_connector_key(std::string_view text) {
  if (text.empty() || text.size() > kConnectorKeyBytesMax || !is_lower(text.front()) || text.back() == '_') return false;
  if (text.find("__") != std::string_view::npos) return false;
  return std::ranges::all_of(text, [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

std::optional<std::string> judge_not_empty(const Tree& value) {
  if (text_of(value).empty()) return "is empty";
  if (text_of(value).find('\0') != std::string::npos) return "holds a zero byte";
  return std::nullopt;
}

std::optional<std::string> judge_socket_path(const Tree& value) {
  if (auto problem = judge_not_empty(value)) return problem;
  if (text_of(value).size() <= kSocketPathBytesMax) return std::nullopt;
  return fmt::format("has {} bytes; the path of a Unix socket can have {}: choose a shorter one", text_of(value).size(),
                     kSocketPathBytesMax);
}

std::optional<std::string> judge_host_name(const Tree& value) {
  const bool good =
      !text_of(value).empty() && std::ranges::all_of(text_of(value), [](char c) { return is_alphanumeric(c) || c == '.' || c == '-'; });
  if (good) return std::nullopt;
  return fmt::format("is `{}`; it must be a host name without scheme and port, such as sluice.example.com", shown(value));
}

std::optional<std::string> judge_loopback_address(const Tree& value) {
  const std::string& text = text_of(value);
  const std::size_t colon = text.rfind(':');
  const std::string_view host = std::string_view(text).substr(0, colon);
  const bool bare_ipv6 = host.find(':') != std::string_view::npos && !(host.starts_with('[') && host.ends_with(']'));
  if (colon == std::string::npos || host.empty() || bare_ipv6 || !is_port(std::string_view(text).substr(colon + 1))) {
    return fmt::format("is `{}`; it must be host:port such as 127.0.0.1:8090 or [::1]:8090", shown(value));
  }
  if (is_loopback(host)) return std::nullopt;
  return fmt::format(
      "is `{}`, which other machines could reach; without TLS, which is not available in this version, only loopback addresses are "
      "allowed: "
      "use 127.0.0.1:{} and let a TLS proxy on this machine forward to it",
      shown(value), std::string_view(text).substr(colon + 1));
}

std::optional<std::string> judge_topic_name(const Tree& value) {
  const std::string& text = text_of(value);
  const bool good = !text.empty() && text.size() <= kTopicNamePartBytesMax && is_alphanumeric(text.front()) &&
                    std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
  if (good) return std::nullopt;
  return fmt::format("is `{}`; it must be 1 to {} letters, digits, dots, underscores and hyphens, beginning with a letter or digit",
                     shown(value), kTopicNamePartBytesMax);
}

std::optional<std::string> judge_connector_key(const Tree& value) {
  if (is_connector_key(text_of(value))) return std::nullopt;
  return fmt::format(
      "is `{}`; it must be lower-case letters and digits in words joined by single underscores, beginning with a letter, such as "
      "orders_out",
      shown(value));
}

std::optional<std::string> judge_start_from(const Tree& value) {
  const std::string& text = text_of(value);
  if (text == "earliest" || text == "latest" || parse_rfc3339(text)) return std::nullopt;
  return fmt::format("is `{}`; it must be earliest, latest or a time with its offset, such as 2026-03-01T12:30:00Z", shown(value));
}

std::optional<std::string> judge_workers(const Tree& value) {
  const std::int64_t workers = std::get<std::int64_t>(value.value);
  if (workers == 1) return std::nullopt;
  return fmt::format("is {}; more than one worker is not available in this version: set it to 1 or leave it out", workers);
}

}  // namespace sluice::config
