// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include <sluice/duration.hpp>

namespace sluice {

struct BreakerPolicy {
  std::uint32_t threshold = 5;  // consecutive failures that open it; 0 means 1
  Duration cool_down{30'000};   // how long nobody is let through then
};

// Spares a back end that fails the calls of everybody: closed until `threshold` calls failed one after the other, then open for the
// cool-down, then half open, where exactly one call is let through. Its success closes the breaker, its failure opens it again. The host
// retries connectors by itself, so a breaker pays where one connector has several calls to the same back end at a time.
// Without clock and sleep: times are those of Context::monotonic_ns. Thread-safe.
class CircuitBreaker {
 public:
  enum class State : std::uint8_t { kClosed, kOpen, kHalfOpen };

  explicit CircuitBreaker(BreakerPolicy policy) : policy_(policy) {}

  // Of one call that was let through. What a call says after the breaker has changed its state meanwhile does not count.
  struct Pass {
    std::uint64_t generation;
  };

  // Whether a call may go out now. Each call that may is followed by exactly one of the three below.
  [[nodiscard]] std::optional<Pass> try_pass(std::uint64_t now_ns);
  void succeeded(Pass pass);
  void failed(Pass pass, std::uint64_t now_ns);
  // It was cancelled: nothing is known of the back end, and if it was the one that tries, another one may.
  void abandoned(Pass pass);

  // For the metrics: what a call would meet, and after how long it may pass.
  [[nodiscard]] State state(std::uint64_t now_ns) const;
  [[nodiscard]] Duration remaining_cool_down(std::uint64_t now_ns) const;

 private:
  [[nodiscard]] bool is_cooling(std::uint64_t now_ns) const { return now_ns < cools_until_ns_; }

  BreakerPolicy policy_;
  mutable std::mutex mutex_;
  std::uint64_t generation_ = 0;  // of the passes that count
  std::uint32_t failures_ = 0;    // one after the other
  bool open_ = false;
  bool trying_ = false;               // the one call of the half-open state is out
  std::uint64_t cools_until_ns_ = 0;  // if open
};

}  // namespace sluice
