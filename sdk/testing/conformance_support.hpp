// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include <sluice/outcome.hpp>
#include <sluice/testing/conformance.hpp>

namespace sluice::testing {

inline constexpr std::chrono::seconds kCancelMax(1);   // how long a call may go on after a cancel
inline constexpr std::chrono::milliseconds kLook(10);  // between two looks whether a call has ended
inline constexpr int kAttemptsMax = 50;                // without progress

[[nodiscard]] inline std::string shown(const Outcome& outcome) {
  return outcome.text + " [" + outcome.code + "]";
}

// Runs the case; what the driver says of the contract is a finding, too.
template <typename Case>
[[nodiscard]] Findings judged(Case run) {
  Findings findings;
  try {
    run(findings);
  } catch (const ContractViolation& violation) {
    findings.emplace_back(violation.what());
  }
  return findings;
}

// The case of two configurations that no connector may take.
template <typename Subject>
[[nodiscard]] Findings refuses_a_configuration_that_is_none(Subject& subject) {
  return judged([&](Findings& findings) {
    const std::string valid = subject.config();
    const std::string rest = valid.substr(valid.find('{') + 1);
    const bool empty = rest.find_first_not_of(" \n\t") == rest.find('}');
    for (const std::string& garbage :
         {std::string("[]"), R"({"no_such_key_of_any_connector": 1)" + (empty ? std::string("}") : "," + rest)}) {
      const auto failure = subject.make().open(garbage);
      if (!failure || failure->outcome_class != OutcomeClass::kInvalidConfig) findings.push_back("it opens with " + garbage);
    }
  });
}

// Whether the call has a request that hangs in the back end; if not, a finding says why.
[[nodiscard]] inline bool reaches_the_back_end(ConformanceSubject& subject, const std::future<std::optional<Outcome>>& call,
                                               Findings& findings) {
  const auto give_up = std::chrono::steady_clock::now() + subject.reach_max();
  const auto has_ended = [&] { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
  while (!has_ended() && std::chrono::steady_clock::now() < give_up) {
    if (subject.wait_until_hanging(kLook)) return true;
  }
  const bool ended = has_ended();
  if (subject.wait_until_hanging(std::chrono::milliseconds(0))) return true;
  findings.push_back(ended ? "the call ended without a request to the back end"
                           : "no request was at the back end " + std::to_string(subject.reach_max().count()) + " ms after the call began");
  return false;
}

// `call` hangs in the back end; `cancel` must end it.
inline void check_cancel(ConformanceSubject& subject, const std::function<std::optional<Outcome>()>& call,
                         const std::function<void()>& cancel, Findings& findings) {
  subject.hang();
  auto ended = std::async(std::launch::async, call);
  const bool hangs = reaches_the_back_end(subject, ended, findings);
  cancel();
  if (ended.wait_for(kCancelMax) != std::future_status::ready)
    findings.emplace_back("a call went on for more than a second after the cancel");
  subject.let_go();
  const std::optional<Outcome> outcome = ended.get();
  if (!hangs) return;
  if (!outcome || outcome->outcome_class != OutcomeClass::kCancelled)
    findings.push_back("a cancelled call said " + (outcome ? shown(*outcome) : std::string("that it succeeded")));
}

}  // namespace sluice::testing
