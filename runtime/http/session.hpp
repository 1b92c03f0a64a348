// SPDX-License-Identifier: Apache-2.0
// Private to runtime/http: one connection, from its accept to its close.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "runtime/http/router.hpp"

namespace sluice::http {

// What sessions share. All of it is touched on the I/O thread alone; the routers themselves are immutable.
struct SessionShared {
  std::shared_ptr<const Router> router;  // for the next request; one that is being served keeps its own
  boost::asio::io_context& workers;
  const std::function<void(const std::string&)>& log_admin;
  std::stop_token stop;
  std::uint64_t body_bytes_in_flight = 0;
  std::uint64_t answer_bytes_in_flight = 0;
  std::size_t requests_in_flight = 0;
  std::size_t waiting_requests = 0;
  // Closes the socket of each live session; a session adds itself and takes itself out.
  struct Live {
    bool busy = false;
    std::function<void()> close;
  };
  std::list<Live> live;
};

// Serves requests until the peer closes, a limit is passed or the server stops. `shared` outlives it.
[[nodiscard]] boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket socket, SessionShared& shared);
[[nodiscard]] boost::asio::awaitable<void> serve(boost::asio::local::stream_protocol::socket socket, SessionShared& shared);

}  // namespace sluice::http
