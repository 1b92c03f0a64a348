// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <sluice/http_client.hpp>

namespace sluice {
namespace {

constexpr std::size_t kBodyInTextBytes = 500;

struct StatusHint {
  int status;
  const char* hint;
};
constexpr std::array<StatusHint, 6> kStatusHints{
    {{400, "the server does not accept this record as it is: compare its body with what the server expects"},
     {401, "check the credentials in the configuration"},
     {403, "the credentials are known but may not do this: check their rights"},
     {404, "check the path of the URL"},
     {405, "check the method and the path of the URL"},
     {413, "the server's limit for a request is smaller: lower the batch size"}}};

std::string hint_of(int status) {
  if (status >= 300 && status < 400) return "redirects are not followed: configure the address it points to";
  const auto* found = std::find_if(kStatusHints.begin(), kStatusHints.end(), [status](const StatusHint& h) { return h.status == status; });
  return found == kStatusHints.end() ? "" : found->hint;
}

Outcome outcome_of_answer(const HttpResult& result, Verdict verdict) {
  Outcome outcome;
  outcome.outcome_class = verdict.outcome_class;
  outcome.scope = verdict.scope;
  outcome.code = "http.status";
  outcome.text = "the server answered " + std::to_string(result.status);
  if (!result.body.empty()) outcome.text += ": " + result.body.substr(0, kBodyInTextBytes);
  outcome.hint = hint_of(result.status);
  outcome.http_status = result.status;
  outcome.retry_after = result.retry_after;
  return outcome;
}

Outcome outcome_of_failure(const HttpResult& result, TransportFailure failure, bool idempotent) {
  const Verdict verdict = classify_transport_failure(failure, idempotent);
  Outcome outcome;
  outcome.outcome_class = verdict.outcome_class;
  outcome.scope = verdict.scope;
  outcome.code = failure == TransportFailure::kNotSent ? "http.not_sent" : "http.no_answer";
  outcome.text = failure == TransportFailure::kNotSent ? "the request could not be sent: " : "no answer to the request: ";
  outcome.text += result.problem;
  outcome.hint = result.hint;
  return outcome;
}

}  // namespace

std::optional<Outcome> http_outcome(const HttpResult& result, bool idempotent) {
  switch (result.end) {
    case HttpEnd::kAnswered: {
      const auto verdict = classify_http_status(result.status);
      return verdict ? std::optional(outcome_of_answer(result, *verdict)) : std::nullopt;
    }
    case HttpEnd::kNotSent:
      return outcome_of_failure(result, TransportFailure::kNotSent, idempotent);
    case HttpEnd::kBrokenWhileSending:
      return outcome_of_failure(result, TransportFailure::kBrokenWhileSending, idempotent);
    case HttpEnd::kBrokenAfterSending:
      return outcome_of_failure(result, TransportFailure::kBrokenAfterSending, idempotent);
    case HttpEnd::kCancelled:
      break;
  }
  return CancelledError().outcome();
}

}  // namespace sluice
