// SPDX-License-Identifier: Apache-2.0
// Private to runtime/http: JSON bodies in and out of handlers.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "runtime/http/router.hpp"

namespace sluice::http {

[[nodiscard]] Response json_response(const boost::json::value& value, unsigned status = 200);

// The body as an object with no other fields than `fields`; an empty body is an empty object.
[[nodiscard]] Result<boost::json::object> body_object(const Request& request, std::initializer_list<std::string_view> fields);

// A field of a known type, nothing if it is absent or null. Errors: http.bad_request naming the field.
[[nodiscard]] Result<std::optional<std::uint64_t>> number_field(const boost::json::object& from, std::string_view name, std::uint64_t min,
                                                                std::uint64_t max);
[[nodiscard]] Result<std::optional<bool>> bool_field(const boost::json::object& from, std::string_view name);
[[nodiscard]] Result<std::optional<std::string>> string_field(const boost::json::object& from, std::string_view name);

// A handler from a function that may fail: its error becomes a problem document.
[[nodiscard]] Handler answer_with(std::function<Result<Response>(const Request&)> handle);

// GET /health and /api/v1/version: the process serves.
void add_version_routes(Router& router, std::string version);

}  // namespace sluice::http
