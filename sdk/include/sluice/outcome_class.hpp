// SPDX-License-Identifier: Apache-2.0
// Class and scope of a failure, and what the usual causes mean. Pure: the host and the SDK share it. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

// The values of SLUICE_CLASS_*; abi/outcome.h says what each means.
enum class OutcomeClass : std::uint16_t { kTransient = 1, kPermanent = 2, kAmbiguous = 3, kInvalidConfig = 4, kCancelled = 5, kFatal = 6 };

// The values of SLUICE_SCOPE_*.
enum class OutcomeScope : std::uint16_t { kRecord = 1, kConnector = 2 };

[[nodiscard]] std::string_view to_string(OutcomeClass outcome_class);
[[nodiscard]] std::string_view to_string(OutcomeScope scope);

struct Verdict {
  OutcomeClass outcome_class;
  OutcomeScope scope;

  friend constexpr bool operator==(const Verdict&, const Verdict&) = default;
};

// What an HTTP answer to a delivery means; nothing for 2xx.
//   408, 425, 429, 5xx            transient, record
//   401, 403, 404, 405, 3xx       transient, connector: the address or the credentials are wrong, no record is to blame
//   400, 413, 422, other 4xx      permanent, record
//   anything else                 transient, connector: whoever answered does not speak HTTP
[[nodiscard]] std::optional<Verdict> classify_http_status(int status);

// How a request ended that brought no answer.
enum class TransportFailure : std::uint8_t {
  kNotSent,             // refused, unreachable, DNS, TLS, timed out while connecting
  kBrokenWhileSending,  // reset or timed out before the whole request had left
  kBrokenAfterSending,  // reset or timed out afterwards: it may have taken effect
};

// kNotSent is transient, connector; the others are transient, record, except that a request which is not idempotent and had been sent is
// ambiguous.
[[nodiscard]] Verdict classify_transport_failure(TransportFailure failure, bool idempotent);

}  // namespace sluice
