// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/outcome.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/text.hpp"

namespace sluice::plugin {

namespace {

static_assert(static_cast<int>(OutcomeClass::kTransient) == SLUICE_CLASS_TRANSIENT &&
              static_cast<int>(OutcomeClass::kFatal) == SLUICE_CLASS_FATAL);
static_assert(static_cast<int>(Scope::kRecord) == SLUICE_SCOPE_RECORD && static_cast<int>(Scope::kConnector) == SLUICE_SCOPE_CONNECTOR);

std::optional<OutcomeClass> known_class(std::uint16_t value) {
  if (value < SLUICE_CLASS_TRANSIENT || value > SLUICE_CLASS_FATAL) return std::nullopt;
  return static_cast<OutcomeClass>(value);
}

std::optional<Scope> known_scope(std::uint16_t value) {
  if (value < SLUICE_SCOPE_RECORD || value > SLUICE_SCOPE_CONNECTOR) return std::nullopt;
  return static_cast<Scope>(value);
}

std::string stable_code(std::string_view raw) {
  std::string code(raw.substr(0, kOutcomeCodeBytesMax));
  std::ranges::replace_if(code, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'); }, '_');
  return code.empty() ? "unnamed" : code;
}

}  // namespace

Outcome contract_violation(std::string text) {
  Outcome outcome;
  outcome.code = kContractCode;
  outcome.text = std::move(text);
  outcome.hint = "the plugin is broken: report it to its author, with this text";
  return outcome;
}

std::optional<std::string_view> read_text(sluice_text text) {
  if (text.ptr == nullptr) return text.len == 0 ? std::optional(std::string_view()) : std::nullopt;
  // No text of the ABI is longer than this; a longer one is cut here, so that a wrong length costs no more than a right one.
  constexpr std::uint64_t kTextBytesMax = 1u << 20;
  return std::string_view(text.ptr, std::min(text.len, kTextBytesMax));
}

Outcome read_outcome(const sluice_outcome* outcome, const std::vector<std::string>& secrets) {
  if (outcome == nullptr) return contract_violation("the plugin reported a failure with a null outcome");
  if (outcome->struct_size < sizeof(sluice_outcome)) {
    return contract_violation(fmt::format("the plugin reported a failure with an outcome of {} bytes, {} are needed", outcome->struct_size,
                                          sizeof(sluice_outcome)));
  }
  const auto code = read_text(outcome->code);
  const auto text = read_text(outcome->text);
  const auto hint = read_text(outcome->hint);
  const auto pointer = read_text(outcome->pointer);
  if (!code || !text || !hint || !pointer)
    return contract_violation("the plugin reported a failure with a text that has a length but no bytes");

  const auto outcome_class = known_class(outcome->outcome_class);
  const auto scope = known_scope(outcome->scope);
  if (!outcome_class || !scope) {
    return contract_violation(fmt::format("the plugin reported a failure of unknown {} {}: {}", outcome_class ? "scope" : "class",
                                          outcome_class ? outcome->scope : outcome->outcome_class,
                                          clean_text(*text, kOutcomeTextBytesMax, secrets)));
  }
  Outcome out;
  out.outcome_class = *outcome_class;
  out.scope = *scope;
  out.code = stable_code(*code);
  out.text = clean_text(*text, kOutcomeTextBytesMax, secrets);
  out.hint = clean_text(*hint, kOutcomeTextBytesMax, secrets);
  out.pointer = clean_text(*pointer, kOutcomePointerBytesMax, secrets);
  out.http_status = outcome->http_status >= 100 && outcome->http_status <= 999 ? outcome->http_status : 0;
  if (outcome->retry_after_ms > 0) out.retry_after = std::min(kRetryAfterMax, std::chrono::milliseconds(outcome->retry_after_ms));
  return out;
}

}  // namespace sluice::plugin
