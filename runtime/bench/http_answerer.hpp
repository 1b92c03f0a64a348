// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "core/base/result.hpp"

namespace sluice::bench {

// An HTTP server on loopback that answers every request with 200 and nothing else, as fast as one thread can: the peer of the http_sink
// case.
class HttpAnswerer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<HttpAnswerer>> start();
  ~HttpAnswerer();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }

 private:
  HttpAnswerer(int listener, int epoll, int stop_event, std::uint16_t port);
  void serve();

  int listener_;
  int epoll_;
  int stop_event_;
  std::uint16_t port_;
  std::atomic<std::uint64_t> requests_{0};
  std::jthread thread_;
};

}  // namespace sluice::bench
