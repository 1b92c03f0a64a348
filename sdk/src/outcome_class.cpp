// SPDX-License-Identifier: Apache-2.0
#include <sluice/outcome_class.hpp>

namespace sluice {

std::string_view to_string(OutcomeClass outcome_class) {
  switch (outcome_class) {
    case OutcomeClass::kTransient:
      return "transient";
    case OutcomeClass::kPermanent:
      return "permanent";
    case OutcomeClass::kAmbiguous:
      return "ambiguous";
    case OutcomeClass::kInvalidConfig:
      return "invalid_config";
    case OutcomeClass::kCancelled:
      return "cancelled";
    case OutcomeClass::kFatal:
      return "fatal";
  }
  return "unknown";
}

std::string_view to_string(OutcomeScope scope) {
  switch (scope) {
    case OutcomeScope::kRecord:
      return "record";
    case OutcomeScope::kConnector:
      return "connector";
  }
  return "unknown";
}

std::optional<Verdict> classify_http_status(int status) {
  constexpr Verdict kTryConnectorAgain{OutcomeClass::kTransient, OutcomeScope::kConnector};
  constexpr Verdict kTryRecordAgain{OutcomeClass::kTransient, OutcomeScope::kRecord};
  if (status >= 200 && status < 300) return std::nullopt;
  if (status >= 500 && status < 600) return kTryRecordAgain;
  switch (status) {
    case 408:
    case 425:
    case 429:
      return kTryRecordAgain;
    case 401:
    case 403:
    case 404:
    case 405:
      return kTryConnectorAgain;
    default:
      break;
  }
  if (status >= 400 && status < 500) return Verdict{OutcomeClass::kPermanent, OutcomeScope::kRecord};
  return kTryConnectorAgain;
}

Verdict classify_transport_failure(TransportFailure failure, bool idempotent) {
  if (failure == TransportFailure::kNotSent) return {OutcomeClass::kTransient, OutcomeScope::kConnector};
  if (failure == TransportFailure::kBrokenAfterSending && !idempotent) return {OutcomeClass::kAmbiguous, OutcomeScope::kRecord};
  return {OutcomeClass::kTransient, OutcomeScope::kRecord};
}

}  // namespace sluice
