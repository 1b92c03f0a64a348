// SPDX-License-Identifier: Apache-2.0
// What sink and source thunks share: nothing that an author throws may leave a function of the ABI.
#pragma once

#include <exception>

#include <sluice/abi/outcome.h>
#include <sluice/context.hpp>
#include <sluice/outcome.hpp>
#include <sluice/record.hpp>

namespace sluice::detail {

// Borrows the texts of `from`.
[[nodiscard]] inline sluice_outcome to_abi(const Outcome& from) {
  sluice_outcome out{};
  out.struct_size = sizeof out;
  out.outcome_class = static_cast<std::uint16_t>(from.outcome_class);
  out.scope = static_cast<std::uint16_t>(from.scope);
  out.http_status = from.http_status;
  out.retry_after_ms = from.retry_after.count();
  out.code = abi_text(from.code);
  out.text = abi_text(from.text);
  out.hint = abi_text(from.hint);
  out.pointer = abi_text(from.pointer);
  return out;
}

[[nodiscard]] inline sluice_outcome plain_outcome(OutcomeClass outcome_class, std::string_view code, std::string_view text) {
  sluice_outcome out{};
  out.struct_size = sizeof out;
  out.outcome_class = static_cast<std::uint16_t>(outcome_class);
  out.scope = static_cast<std::uint16_t>(OutcomeScope::kConnector);
  out.code = abi_text(code);
  out.text = abi_text(text);
  return out;
}

// Inside a catch block: tells `report` what was thrown, without allocating. Once the host has cancelled, every failure is a consequence of
// that.
template <typename Report>
void report_thrown(bool cancelled, Report&& report) noexcept {
  if (cancelled) return report(plain_outcome(OutcomeClass::kCancelled, "cancelled", "the host cancelled the call"));
  try {
    throw;
  } catch (const OutcomeError& error) {
    report(to_abi(error.outcome()));
  } catch (const std::exception& error) {
    report(plain_outcome(OutcomeClass::kFatal, "plugin.exception", error.what()));
  } catch (...) {
    report(plain_outcome(OutcomeClass::kFatal, "plugin.exception", "the connector threw something that is not a std::exception"));
  }
}

// Runs one [worker] call of an instance. After cancel only what closes is run.
template <typename Body, typename Report>
sluice_status guarded(Context& context, const sluice_call& call, Body&& body, Report&& report) noexcept {
  try {
    context.begin_call(call);
    context.throw_if_cancelled();
    body();
    return SLUICE_OK;
  } catch (...) {
    report_thrown(context.cancelled(), report);
    return SLUICE_FAILED;
  }
}

// The report of a call whose failures go to an outcome writer.
[[nodiscard]] inline auto report_to(const sluice_outcome_writer* writer) {
  return [writer](const sluice_outcome& outcome) noexcept { writer->fail(writer->host_data, &outcome); };
}

}  // namespace sluice::detail
