// SPDX-License-Identifier: Apache-2.0
// The other end: what the command line uses to talk to a daemon.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "runtime/http/message.hpp"

namespace sluice::http {

inline constexpr std::uint64_t kAnswerBytesMax = 256ULL << 20;
inline constexpr std::chrono::seconds kConnectTimeout{5};
inline constexpr std::chrono::milliseconds kCallTimeout{60'000};

// Where a daemon answers: a TCP port or a Unix socket.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  std::filesystem::path socket;  // not empty: a Unix socket, and host and port are unused
};
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

// "http://127.0.0.1:8090", "http://[::1]:8090" or "unix:/run/sluice.sock".
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view url);

struct Call {
  std::string method = "GET";
  std::string target;  // path and query, encoded
  std::string content_type{kJson};
  std::string body = {};
  std::chrono::milliseconds timeout = kCallTimeout;
};

// One request over a connection of its own; blocks. An answer of any status is a value. Errors: http.no_daemon if nothing answers there,
// http.protocol if the connection breaks or the deadline passes, http.bad_request for an endpoint that cannot be.
[[nodiscard]] Result<Response> call(const Endpoint& endpoint, const Call& call);

// Percent-encodes one path segment or query value.
[[nodiscard]] std::string encode_component(std::string_view text);

}  // namespace sluice::http
