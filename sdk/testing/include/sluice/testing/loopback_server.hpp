// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/duration.hpp>

namespace sluice::testing {

struct HttpSeen {
  std::uint64_t number = 0;      // of the request, from 0, over all connections
  std::uint64_t connection = 0;  // from 0
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  [[nodiscard]] std::optional<std::string> header(std::string_view lower_case_name) const;
};

struct HttpReply {
  enum class Action : std::uint8_t {
    kAnswer,
    kClose,  // close without a byte
    kReset,  // the same with a TCP reset
    kHang,   // say nothing until the server is stopped
  };
  int status = 200;
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  Duration delay{0};
  Action action = Action::kAnswer;
};

// An HTTP/1.1 server on 127.0.0.1 that does what a script says: for tests of connectors, not robust against anybody else. It keeps
// connections open. The script runs on the server's threads, one request at a time. Stops in the destructor, also while it hangs.
class LoopbackServer {
 public:
  using Script = std::function<HttpReply(const HttpSeen& request)>;

  explicit LoopbackServer(Script script);
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer();

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::string url(std::string_view path = "/") const;
  [[nodiscard]] std::vector<HttpSeen> seen() const;
  // Blocks until so many requests have been seen in all; false after `patience`.
  [[nodiscard]] bool wait_for_requests(std::size_t count, Duration patience = Duration{10'000}) const;
  // Closes the listening socket and all connections: what comes next is refused.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::testing
