// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/api_json.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/text.hpp"
#include "runtime/http/errc.hpp"

namespace sluice::http {

namespace json = boost::json;

Response json_response(const json::value& value, unsigned status) {
  return {.status = status, .body = json::serialize(value) + "\n"};
}

Result<json::object> body_object(const Request& request, std::initializer_list<std::string_view> fields) {
  if (request.body.empty()) return json::object();
  boost::system::error_code error;
  const json::value parsed = json::parse(request.body, error);
  if (error) return fail(Errc::kBadRequest, fmt::format("the body is not JSON: {}", error.message()));
  if (!parsed.is_object()) return fail(Errc::kBadRequest, "the body must be a JSON object");
  for (const auto& field : parsed.get_object()) {
    const std::string_view name = field.key();
    if (std::ranges::find(fields, name) == fields.end()) {
      return fail(Errc::kBadRequest, fmt::format("unknown field '{}'; known are {}", clean_text(name, 64), fmt::join(fields, ", ")));
    }
  }
  return parsed.get_object();
}

Result<std::optional<std::uint64_t>> number_field(const json::object& from, std::string_view name, std::uint64_t min, std::uint64_t max) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  boost::system::error_code error;
  const auto number = value->to_number<std::uint64_t>(error);
  if (error || number < min || number > max)
    return fail(Errc::kBadRequest, fmt::format("'{}' must be a whole number from {} to {}", name, min, max));
  return number;
}

Result<std::optional<bool>> bool_field(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_bool()) return fail(Errc::kBadRequest, fmt::format("'{}' must be true or false", name));
  return value->get_bool();
}

Result<std::optional<std::string>> string_field(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_string()) return fail(Errc::kBadRequest, fmt::format("'{}' must be a string", name));
  return std::string(std::string_view(value->get_string()));
}

Handler answer_with(std::function<Result<Response>(const Request&)> handle) {
  return [handle = std::move(handle)](const Request& request) -> Response {
    Result<Response> outcome = handle(request);
    if (!outcome) return problem(outcome.error());
    return *std::move(outcome);
  };
}

void add_version_routes(Router& router, std::string version) {
  const Handler handler = [version = std::move(version)](const Request&) {
    json::object out;
    out["status"] = "ok";
    out["version"] = version;
    return json_response(out);
  };
  router.add({.method = "GET", .pattern = "/health", .handler = handler});
  router.add({.method = "GET", .pattern = "/api/v1/version", .handler = handler});
}

}  // namespace sluice::http
