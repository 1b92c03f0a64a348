// SPDX-License-Identifier: Apache-2.0
#include <sluice/retry_call.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <sluice/retry_progress.hpp>

namespace sluice {

bool is_worth_another_attempt(const Outcome& error) {
  if (error.outcome_class != OutcomeClass::kTransient) return false;
  return error.http_status == 0 || is_transient_status(error.http_status);
}

std::optional<GivenUp> retry(const Context& context, const RetryOptions& options, const std::function<void()>& operation) {
  RetryProgress progress(options.policy, std::min(options.deadline_ns, context.deadline_ns()));
  while (true) {
    context.throw_if_cancelled();
    Outcome error;
    try {
      operation();
      return std::nullopt;
    } catch (const CancelledError&) {
      throw;
    } catch (const OutcomeError& failed) {
      error = failed.outcome();
    }
    const auto wait = progress.failed(options.may_pass(error), error.retry_after, context.monotonic_ns(), context.random());
    if (!wait) return GivenUp{std::move(error), progress.attempts(), progress.exhausted()};
    context.retrying(progress.attempts(), *wait, error);
    context.wait_until_ns(time_after_ns(context.monotonic_ns(), *wait));
  }
}

void check_connectivity(const Context& context, const RetryPolicy& policy, const std::function<void()>& probe) {
  std::optional<GivenUp> given_up = retry(context, {.policy = policy}, probe);
  if (!given_up) return;
  Outcome& error = given_up->error;
  if (error.outcome_class == OutcomeClass::kTransient) error.scope = OutcomeScope::kConnector;
  if (given_up->attempts > 1) error.text += " (after " + std::to_string(given_up->attempts) + " attempts)";
  throw OutcomeError(std::move(error));
}

void RetryKeys::bind(Binding<RetryKeys>& b) {
  using std::chrono::minutes;
  const RetryKeys defaults;
  b.optional("max_attempts", &RetryKeys::max_attempts, defaults.max_attempts, {.min = 1, .max = 100},
             "Attempts in total, the first included.");
  b.optional("base_delay", &RetryKeys::base_delay, defaults.base_delay, {.min = Duration{1}, .max = minutes(1)},
             "Wait before the second attempt, give or take a fifth; it doubles with each further one.");
  b.optional("max_delay", &RetryKeys::max_delay, defaults.max_delay, {.min = Duration{1}, .max = minutes(10)},
             "No wait is longer, whatever the back end asks for.");
}

void RetryKeys::validate() const {
  if (base_delay > max_delay) throw ConfigError("/base_delay", "base_delay must not be above max_delay");
}

void BreakerKeys::bind(Binding<BreakerKeys>& b) {
  const BreakerKeys defaults;
  b.optional("threshold", &BreakerKeys::threshold, defaults.threshold, {.min = 1, .max = 1'000'000},
             "So many calls that fail one after the other keep all further ones away from the back end.");
  b.optional("cool_down", &BreakerKeys::cool_down, defaults.cool_down, {.min = Duration{1}, .max = std::chrono::hours(24)},
             "For so long; then one call tries.");
}

BreakerGauges::BreakerGauges(const Context& context)
    : state_(context.gauge("breaker_state", "State of the circuit breaker: 0 closed, 1 open, 2 half open")),
      cool_down_(context.gauge("breaker_cool_down_seconds", "After so long the circuit breaker lets a call try")) {}

void BreakerGauges::show(const CircuitBreaker& breaker, std::uint64_t now_ns) const {
  state_.set(static_cast<double>(breaker.state(now_ns)));
  cool_down_.set(std::chrono::duration<double>(breaker.remaining_cool_down(now_ns)).count());
}

}  // namespace sluice
