// SPDX-License-Identifier: Apache-2.0
// For hiccups of less than a second or so that a connector bridges on its own. Everything longer is the host's: it retries whatever a
// connector reports as transient, and serves the other partitions meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <sluice/abi/call.h>
#include <sluice/binding.hpp>
#include <sluice/circuit_breaker.hpp>
#include <sluice/context.hpp>
#include <sluice/outcome.hpp>
#include <sluice/retry.hpp>

namespace sluice {

// Class transient; with an HTTP status only one of is_transient_status.
[[nodiscard]] bool is_worth_another_attempt(const Outcome& error);

struct RetryOptions {
  RetryPolicy policy;
  std::uint64_t deadline_ns = SLUICE_NO_DEADLINE;  // on Context::monotonic_ns; the current call's deadline holds besides
  std::function<bool(const Outcome&)> may_pass = is_worth_another_attempt;
};
struct GivenUp {
  Outcome error;               // of the last attempt
  std::uint32_t attempts = 0;  // made
  bool exhausted = false;      // attempts or time ran out; else another attempt would not have helped
};

// Calls `operation` until it returns without an OutcomeError, which is nothing to report. Waits on the host's clock between attempts and
// tells the host of each wait. A cancel ends a wait at once with CancelledError, which an operation lets pass as well; what is no
// OutcomeError passes too. [worker]
[[nodiscard]] std::optional<GivenUp> retry(const Context& context, const RetryOptions& options, const std::function<void()>& operation);

// In open: whether the back end is there and lets us in. `probe` authenticates as the real requests do. Throws the last error; a transient
// one as scope connector, so that the host says `retrying` and opens again, patiently. An answer that another attempt does not change, such
// as 401, 403 or 404, ends it at once: its hint is to say what to do. [worker]
void check_connectivity(const Context& context, const RetryPolicy& policy, const std::function<void()>& probe);

// The sections that a connector declares if it has them, so that all have the same keys:
// `b.section("retry", &Config::retry, "…")`, likewise "connect" for check_connectivity, and "breaker".
struct RetryKeys {
  std::uint32_t max_attempts = 3;
  Duration base_delay{100};
  Duration max_delay{2'000};

  static void bind(Binding<RetryKeys>& b);
  void validate() const;
  [[nodiscard]] RetryPolicy policy() const { return {.max_attempts = max_attempts, .base_delay = base_delay, .max_delay = max_delay}; }
};
struct BreakerKeys {
  std::uint32_t threshold = BreakerPolicy{}.threshold;
  Duration cool_down = BreakerPolicy{}.cool_down;

  static void bind(Binding<BreakerKeys>& b);
  [[nodiscard]] BreakerPolicy policy() const { return {.threshold = threshold, .cool_down = cool_down}; }
};

// The gauges breaker_state (0 closed, 1 open, 2 half open) and breaker_cool_down_seconds, set at each show().
class BreakerGauges {
 public:
  explicit BreakerGauges(const Context& context);
  void show(const CircuitBreaker& breaker, std::uint64_t now_ns) const;

 private:
  Gauge state_;
  Gauge cool_down_;
};

}  // namespace sluice
