// SPDX-License-Identifier: Apache-2.0
// The daemon as commands see it: JSON in, JSON out.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "runtime/http/client.hpp"

namespace boost::json {
class value;
}

namespace sluice::app {

// --server URL, else [http] of --config FILE.
struct ServerOptions {
  std::string server;
  std::filesystem::path config = "sluice.toml";
};

class Remote {
 public:
  // Finds the address: the URL; else the Unix socket of the configuration if it exists, else its port (http.port for port 0).
  // Errors: those of the configuration; http.no_daemon if a port of 0 was never bound.
  [[nodiscard]] static Result<Remote> find(const ServerOptions& options);

  // An answer of status 2xx (or 503 of /ready, if `any_status`). Errors: http.no_daemon, http.protocol, http.remote with the daemon's
  // own code, hint and context; http.remote_unavailable if the same request may succeed later.
  [[nodiscard]] Result<http::Response> fetch(const http::Call& call) const;
  [[nodiscard]] Result<boost::json::value> get(std::string target, std::chrono::milliseconds timeout = http::kCallTimeout) const;
  [[nodiscard]] Result<boost::json::value> post(std::string target, const boost::json::value& body) const;

 private:
  explicit Remote(http::Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  http::Endpoint endpoint_;
};

// "/api/v1/topics/<stream>/<topic>" of "stream/topic".
[[nodiscard]] Result<std::string> topic_target(std::string_view topic);
[[nodiscard]] std::string connector_target(std::string_view key);

}  // namespace sluice::app
