// SPDX-License-Identifier: Apache-2.0
// How an author says what went wrong: throw one of the errors below from any function of a Sink or Source. The host decides what follows.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <sluice/duration.hpp>
#include <sluice/outcome_class.hpp>

namespace sluice {

struct Outcome {
  OutcomeClass outcome_class = OutcomeClass::kFatal;
  OutcomeScope scope = OutcomeScope::kConnector;
  std::string code = {};     // stable and short, for example "http.status"; [a-z0-9_.]
  std::string text = {};     // what happened and where
  std::string hint = {};     // what to do about it
  std::string pointer = {};  // JSON pointer of a faulty value of the configuration
  int http_status = 0;
  Duration retry_after{0};  // what the back end asked for; 0 = nothing
};

// What an error may carry beside code and text: `throw RecordError("http.status", text, {.http_status = 422})`.
struct ErrorDetail {
  std::string hint = {};
  int http_status = 0;
  Duration retry_after{0};
};

// Base of all of them. Value type; safe to copy and rethrow on another thread.
class OutcomeError : public std::exception {
 public:
  explicit OutcomeError(Outcome outcome) : outcome_(std::move(outcome)) {}
  OutcomeError(Verdict verdict, std::string code, std::string text, ErrorDetail detail = {})
      : outcome_{.outcome_class = verdict.outcome_class,
                 .scope = verdict.scope,
                 .code = std::move(code),
                 .text = std::move(text),
                 .hint = std::move(detail.hint),
                 .pointer = {},
                 .http_status = detail.http_status,
                 .retry_after = detail.retry_after} {}

  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  [[nodiscard]] const char* what() const noexcept override { return outcome_.text.c_str(); }

 private:
  Outcome outcome_;
};

// The same record may succeed later.
class TransientError : public OutcomeError {
 public:
  TransientError(std::string code, std::string text, ErrorDetail detail = {})
      : OutcomeError({OutcomeClass::kTransient, OutcomeScope::kRecord}, std::move(code), std::move(text), std::move(detail)) {}
};

// A request that is not idempotent may or may not have taken effect.
class AmbiguousError : public OutcomeError {
 public:
  AmbiguousError(std::string code, std::string text, ErrorDetail detail = {})
      : OutcomeError({OutcomeClass::kAmbiguous, OutcomeScope::kRecord}, std::move(code), std::move(text), std::move(detail)) {}
};

// This record will never succeed; the others are not concerned.
class RecordError : public OutcomeError {
 public:
  RecordError(std::string code, std::string text, ErrorDetail detail = {})
      : OutcomeError({OutcomeClass::kPermanent, OutcomeScope::kRecord}, std::move(code), std::move(text), std::move(detail)) {}
};

// The back end cannot be reached or refuses us: no record is to blame, the host keeps trying.
class ConnectorError : public OutcomeError {
 public:
  ConnectorError(std::string code, std::string text, ErrorDetail detail = {})
      : OutcomeError({OutcomeClass::kTransient, OutcomeScope::kConnector}, std::move(code), std::move(text), std::move(detail)) {}
};

// The configuration must change. `pointer`: JSON pointer of the faulty value, for example "/batch/size".
class ConfigError : public OutcomeError {
 public:
  ConfigError(std::string pointer, std::string text, std::string hint = {})
      : OutcomeError(Outcome{.outcome_class = OutcomeClass::kInvalidConfig,
                             .scope = OutcomeScope::kConnector,
                             .code = "config.invalid",
                             .text = std::move(text),
                             .hint = std::move(hint),
                             .pointer = std::move(pointer)}) {}
};

// The connector cannot go on at all, for example because its state cannot be read.
class FatalError : public OutcomeError {
 public:
  FatalError(std::string code, std::string text, ErrorDetail detail = {})
      : OutcomeError({OutcomeClass::kFatal, OutcomeScope::kConnector}, std::move(code), std::move(text), std::move(detail)) {}
};

// The host called cancel. Thrown by what waits; authors let it pass.
class CancelledError : public OutcomeError {
 public:
  CancelledError() : OutcomeError({OutcomeClass::kCancelled, OutcomeScope::kConnector}, "cancelled", "the host cancelled the call") {}
};

}  // namespace sluice
