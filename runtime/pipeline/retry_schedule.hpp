// SPDX-License-Identifier: Apache-2.0
// When the host tries again. Pure: the time is passed in, and so is the randomness.
#pragma once

#include <cstdint>
#include <optional>

#include <sluice/retry.hpp>

#include "core/base/clock.hpp"
#include "runtime/config/connector_config.hpp"

namespace sluice::pipeline {

// Instants on Clock::monotonic().
using Instant = Clock::Monotonic;

// The waits of the two scopes. Attempts are not bounded here: a back end that is away is waited for without end, and a record's attempts
// are bounded by its connector's `[failure] transient`.
struct RetryPolicies {
  RetryPolicy connector{.max_attempts = UINT32_MAX, .base_delay = Duration{1000}, .max_delay = Duration{60'000}};
  RetryPolicy record{.max_attempts = UINT32_MAX, .base_delay = Duration{250}, .max_delay = Duration{60'000}};
};

// Attempts at one thing that may be tried for ever: the connection of a connector, the dead letter topic, a commit.
class RetrySchedule {
 public:
  explicit RetrySchedule(const RetryPolicy& policy) : policy_(policy) {}

  void failed(Instant now, std::uint64_t random_bits, std::optional<Duration> retry_after = std::nullopt);
  void succeeded() { attempts_ = 0; }

  // Failed attempts in a row.
  [[nodiscard]] std::uint32_t attempts() const { return attempts_; }
  [[nodiscard]] bool waiting(Instant now) const { return attempts_ > 0 && now < due_at_; }
  // Meaningful while attempts() > 0.
  [[nodiscard]] Instant due_at() const { return due_at_; }

 private:
  RetryPolicy policy_;
  std::uint32_t attempts_ = 0;
  Instant due_at_{0};
};

// Attempts at one record, under `[failure] transient`.
class RecordRetry {
 public:
  enum class Verdict : std::uint8_t { kRetry, kExhausted };

  [[nodiscard]] Verdict failed(Instant now, const RetryPolicy& delays, const config::TransientPolicy& limits, std::uint64_t random_bits,
                               std::optional<Duration> retry_after);

  [[nodiscard]] std::uint32_t attempts() const { return attempts_; }
  [[nodiscard]] Instant due_at() const { return due_at_; }
  [[nodiscard]] bool due(Instant now) const { return now >= due_at_; }

 private:
  std::uint32_t attempts_ = 0;
  Instant first_failed_at_{0};
  Instant due_at_{0};  // at once until the first failure
};

}  // namespace sluice::pipeline
