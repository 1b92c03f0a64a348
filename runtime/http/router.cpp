// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/router.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "runtime/http/errc.hpp"

namespace sluice::http {

namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::vector<std::string> split_pattern(std::string_view pattern) {
  std::vector<std::string> out;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);  // the slash
    const std::size_t end = std::min(pattern.find('/'), pattern.size());
    out.emplace_back(pattern.substr(0, end));
    pattern.remove_prefix(end);
  }
  return out;
}

bool is_parameter(std::string_view part) {
  return part.size() > 2 && part.front() == '{';
}

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& segments) {
  if (pattern.size() != segments.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (!is_parameter(pattern[i]) && pattern[i] != segments[i]) return false;
  }
  return true;
}

// "localhost:8090" → "localhost", "[::1]:8090" → "[::1]".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, std::min(host.find(']') + 1, host.size()));
  return host.substr(0, host.find(':'));
}

Result<void> check_mutation(const Head& head, const Route& route) {
  if (!head.has_request_header) {
    return fail(Errc::kHeaderMissing, fmt::format("{} requests need the header X-Sluice-Request", head.method));
  }
  std::string type = lowered(head.content_type.substr(0, head.content_type.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  if (type != kJson && !(route.takes_ndjson && type == kNdjson)) {
    return fail(Errc::kUnsupportedMediaType, fmt::format("content type '{}' is not taken here; send {}{}", head.content_type, kJson,
                                                         route.takes_ndjson ? fmt::format(" or {}", kNdjson) : ""));
  }
  return {};
}

}  // namespace

void Router::add(Route route) {
  auto pattern = split_pattern(route.pattern);
  routes_.push_back({std::move(route), std::move(pattern)});
}

void Router::allow_hosts(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) hosts_.push_back(lowered(host));
}

bool Router::host_allowed(std::string_view host) const {
  return std::ranges::find(hosts_, lowered(without_port(host))) != hosts_.end();
}

Result<const Route*> Router::admit(const Head& head, Request& request) const {
  if (head.host.empty()) return fail(Errc::kBadRequest, "the request has no Host header");
  if (!host_allowed(head.host)) return fail(Errc::kUnknownHost, fmt::format("host '{}' is not served here", head.host));
  bool path_known = false;
  for (const Entry& entry : routes_) {
    if (!matches(entry.pattern, request.segments)) continue;
    path_known = true;
    if (entry.route.method != head.method) continue;
    if (head.method != "GET") SLUICE_CHECK(check_mutation(head, entry.route));
    for (std::size_t i = 0; i < entry.pattern.size(); ++i) {
      const std::string& part = entry.pattern[i];
      if (is_parameter(part)) request.parameters[part.substr(1, part.size() - 2)] = request.segments[i];
    }
    return &entry.route;
  }
  if (path_known) return fail(Errc::kMethodNotAllowed, fmt::format("{} is not allowed on {}", head.method, request.path));
  if (refusal_) return fail(*refusal_);
  return fail(Errc::kNoSuchRoute, fmt::format("there is nothing at {}", request.path));
}

std::string Router::allowed_methods(const Request& request) const {
  std::string out;
  for (const Entry& entry : routes_) {
    if (!matches(entry.pattern, request.segments)) continue;
    if (!out.empty()) out += ", ";
    out += entry.route.method;
  }
  return out;
}

}  // namespace sluice::http
