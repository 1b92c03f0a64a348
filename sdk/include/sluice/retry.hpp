// SPDX-License-Identifier: Apache-2.0
// When to try again. Pure: no clock, no sleep, randomness passed in. The host's scheduling and the SDK use the same arithmetic. [any
// thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sluice/duration.hpp>

namespace sluice {

// The one set of retry keys: max_attempts, base_delay, max_delay.
struct RetryPolicy {
  std::uint32_t max_attempts = 1;  // attempts in total, the first included; 0 means 1
  Duration base_delay{0};
  Duration max_delay{0};

  [[nodiscard]] constexpr std::uint32_t attempts() const { return max_attempts == 0 ? 1 : max_attempts; }

  // The wait before the n-th retry, n ≥ 1 (0 is taken as 1): min(jitter(base · 2^(n−1)), max), jitter ± 20 %. So the first wait is base ±
  // 20 %, no wait is above max, and any n is allowed. `random_bits`: 64 uniform bits.
  [[nodiscard]] Duration backoff(std::uint64_t n, std::uint64_t random_bits) const;

  // The wait before the n-th retry when the back end asked for one: what it asked for, at most max_delay; without a hint the back-off.
  [[nodiscard]] Duration wait(std::uint64_t n, std::uint64_t random_bits, std::optional<Duration> retry_after) const;
};

// The value of a Retry-After header: seconds, or an HTTP-date in any of its three forms, counted from `now_unix_s`. Nothing if it is
// malformed, zero or past: a hint of nothing would burn all attempts in one round trip.
[[nodiscard]] std::optional<Duration> parse_retry_after(std::string_view value, std::int64_t now_unix_s);

// 408, 425, 429, 500, 502, 503, 504: worth another attempt at once, by a connector that retries on its own.
[[nodiscard]] bool is_transient_status(int status);

}  // namespace sluice
