// SPDX-License-Identifier: Apache-2.0
// Requests and responses as plain values: what handlers see. Nothing of Beast.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::http {

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kNdjson = "application/x-ndjson";
inline constexpr std::string_view kProblemJson = "application/problem+json";

struct Request {
  std::string method;                             // upper case
  std::string path;                               // as sent, without the query
  std::vector<std::string> segments;              // of the path, percent-decoded
  std::map<std::string, std::string> query;       // decoded; a name given twice is refused before a handler sees it
  std::map<std::string, std::string> parameters;  // of the route pattern
  std::string body = {};
  std::string peer;      // "127.0.0.1:50412" or "unix uid=1000 pid=4711", for the log
  std::stop_token stop;  // requested when the server stops: long polls end early
};

struct Response {
  unsigned status = 200;
  std::string content_type{kJson};
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};

  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;  // case-insensitive
};

// Splits "/a/b%20c?x=1" into the path, query and segments of a Request.
[[nodiscard]] Result<void> parse_target(std::string_view target, Request& into);

// Numbers and times of query parameters; the error names the parameter and what is allowed.
[[nodiscard]] Result<std::optional<std::uint64_t>> query_number(const Request& request, const std::string& name, std::uint64_t max);

// RFC 9457 problem documents. `problem` picks the status from the error's code and kind.
[[nodiscard]] unsigned http_status(const Error& error);
[[nodiscard]] Response problem(const Error& error);
[[nodiscard]] Response problem(unsigned status, const Error& error);

}  // namespace sluice::http
