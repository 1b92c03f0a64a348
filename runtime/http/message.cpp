// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/message.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <boost/json.hpp>
#include <boost/url.hpp>

#include "runtime/base/parse_number.hpp"
#include "runtime/http/errc.hpp"

namespace sluice::http {

namespace {

bool same_header_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::optional<std::string_view> Response::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (same_header_name(key, name)) return value;
  }
  return std::nullopt;
}

Result<void> parse_target(std::string_view target, Request& into) {
  const auto parsed = boost::urls::parse_origin_form({target.data(), target.size()});
  if (parsed.has_error()) return fail(Errc::kBadRequest, "the request target is not a path with an optional query");
  const boost::urls::url_view url = *parsed;
  const auto path = url.encoded_path();
  into.path.assign(path.data(), path.size());
  for (const auto segment : url.segments()) into.segments.emplace_back(segment.begin(), segment.end());
  for (const auto parameter : url.params()) {
    const std::string name(parameter.key);
    if (!into.query.emplace(name, parameter.value).second)
      return fail(Errc::kBadRequest, fmt::format("query parameter '{}' is given twice", name));
  }
  return {};
}

Result<std::optional<std::uint64_t>> query_number(const Request& request, const std::string& name, std::uint64_t max) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return std::nullopt;
  const auto value = parse_number<std::uint64_t>(found->second);
  if (!value || *value > max) {
    return fail(Errc::kBadRequest, fmt::format("query parameter '{}' must be a whole number from 0 to {}", name, max));
  }
  return value;
}

unsigned http_status(const Error& error) {
  if (error.is(Errc::kUnknownHost)) return 421;
  if (error.is(Errc::kHeaderMissing)) return 403;
  if (error.is(Errc::kMethodNotAllowed)) return 405;
  if (error.is(Errc::kUnsupportedMediaType)) return 415;
  if (error.is(Errc::kBodyTooLarge) || error.is(sluice::Errc::kLimit)) return 413;
  if (error.is(Errc::kLengthRequired)) return 411;
  if (error.is(sluice::Errc::kTimeout)) return 504;
  if (error.is(sluice::Errc::kShuttingDown)) return 503;
  switch (error.kind()) {
    case ErrorKind::kRetry:
      return 503;
    case ErrorKind::kInvalidInput:
      return 400;
    case ErrorKind::kNotFound:
      return 404;
    case ErrorKind::kConflict:
      return 409;
    case ErrorKind::kCorrupt:
    case ErrorKind::kGiveUp:
      break;
  }
  return 500;
}

Response problem(const Error& error) {
  return problem(http_status(error), error);
}

Response problem(unsigned status, const Error& error) {
  boost::json::object document;
  document["type"] = fmt::format("urn:sluice:error:{}", error.code());
  document["title"] = std::string(to_string(error.kind()));
  document["status"] = status;
  document["detail"] = error.message();
  document["code"] = std::string(error.code());
  document["hint"] = std::string(error.explanation());
  if (!error.context().empty()) {
    boost::json::object context;
    for (const auto& [key, value] : error.context()) context[key] = value;
    document["context"] = std::move(context);
  }
  Response response{
      .status = status, .content_type = std::string(kProblemJson), .body = boost::json::serialize(document) + "\n", .headers = {}};
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace sluice::http
