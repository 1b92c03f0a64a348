// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "runtime/http/router.hpp"

namespace sluice::http {

inline constexpr std::size_t kConnectionsMax = 128;                    // a further connection is closed at once
inline constexpr std::uint32_t kHeaderBytesMax = 16u << 10;            // request line and headers
inline constexpr std::uint64_t kBodyBytesMax = 16ULL << 20;            // the largest body of any route
inline constexpr std::uint64_t kBodyBytesInFlightMax = 64ULL << 20;    // of all requests together; beyond it 503
inline constexpr std::uint64_t kAnswerBytesInFlightMax = 64ULL << 20;  // of answers that are not written yet; beyond it a GET gets 503
inline constexpr std::size_t kRequestsInFlightMax = 64;                // handed to workers; beyond it 503
inline constexpr std::size_t kWorkers = 8;
inline constexpr std::size_t kWaitingRequestsMax = 6;    // long polls; the other workers stay free for everything else
inline constexpr std::chrono::seconds kHeadTimeout{30};  // also how long an idle connection is kept
inline constexpr std::chrono::seconds kBodyTimeout{60};
inline constexpr std::chrono::seconds kWriteTimeout{60};
inline constexpr std::chrono::seconds kStopGrace{2};  // for answers that are being written when the server stops

// The daemon's HTTP endpoint: one loopback TCP port and, if a path is given, one Unix socket of mode 0660.
//
// Guarantees: every request passes Router::admit before its body is read; connections, sizes, times and requests in flight are bounded
// by the constants above; handlers run on kWorkers threads and never on the I/O thread; nothing outlives stop().
// Owned by the daemon. start() binds (so that a taken port is an error of the start) and serves at once; stop() and the destructor join
// every session, worker and thread. All members may be called from any thread; stop() only once at a time.
class Server {
 public:
  struct Options {
    std::string address;                                     // loopback "host:port"; port 0 = any free one
    std::filesystem::path socket = {};                       // empty = none; a stale socket is replaced, a live one refused
    std::function<void(const std::string&)> log_admin = {};  // one line per request that may change something
  };

  [[nodiscard]] static Result<std::unique_ptr<Server>> start(Options options, Router router);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // From now on requests are for these routes; those that are being served keep the ones they came for.
  void replace_routes(Router router);
  [[nodiscard]] std::uint16_t port() const;
  // Refuses new connections, lets running answers finish within kStopGrace, joins. Long polls see their stop token.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::http
