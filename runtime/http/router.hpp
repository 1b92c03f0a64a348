// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/http/message.hpp"

namespace sluice::http {

inline constexpr std::uint64_t kBodyBytesMaxDefault = 64ULL << 10;

// Runs on a worker of the server; may block for as long as a client call may.
using Handler = std::function<Response(const Request&)>;

struct Route {
  std::string method;   // GET, POST
  std::string pattern;  // "/api/v1/connectors/{key}/pause"
  Handler handler;
  std::uint64_t body_bytes_max = kBodyBytesMaxDefault;
  bool takes_ndjson = false;  // application/x-ndjson is taken beside application/json
  bool waits = false;         // a long poll: counted against the limit of waiting requests
};

// What of a request decides whether it may be served at all, read from its head before its body is taken.
struct Head {
  std::string method;
  std::string host;  // Host header; empty if absent
  std::string content_type;
  bool has_request_header = false;  // X-Sluice-Request
};

// The table of routes and the rules that hold for all of them. Immutable once the server runs; thread-safe then.
//
// Guarantees: a request reaches a handler only if its Host is allowed, and, when its method changes something, only with
// `X-Sluice-Request` and a JSON content type: both make a browser ask first, and the server never grants what it asks (no CORS).
class Router {
 public:
  void add(Route route);
  // What a path without a route gets, in place of http.no_such_route.
  void refuse_others(Error why) { refusal_ = std::move(why); }
  // Names beside localhost, 127.0.0.1 and [::1]; compared without port, case-insensitive.
  void allow_hosts(const std::vector<std::string>& hosts);

  // Finds the route and fills request.parameters, or says why the request is refused.
  [[nodiscard]] Result<const Route*> admit(const Head& head, Request& request) const;
  // "GET, POST" for a 405.
  [[nodiscard]] std::string allowed_methods(const Request& request) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> pattern;
  };
  [[nodiscard]] bool host_allowed(std::string_view host) const;

  std::vector<Entry> routes_;
  std::optional<Error> refusal_;
  std::vector<std::string> hosts_{"localhost", "127.0.0.1", "[::1]"};
};

}  // namespace sluice::http
