// SPDX-License-Identifier: Apache-2.0
// What a plugin call came to, after the host has checked it.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/abi/outcome.h>
#include <sluice/outcome_class.hpp>

namespace sluice::plugin {

// The SDK's: both sides call them by the same names.
using sluice::OutcomeClass;
using Scope = sluice::OutcomeScope;
using sluice::to_string;

// Why a call or a record failed. All texts are valid UTF-8 without control characters, bounded, and free of known secrets.
struct Outcome {
  OutcomeClass outcome_class = OutcomeClass::kFatal;
  Scope scope = Scope::kConnector;
  std::string code;  // stable, for example "http.status"; "plugin.…" when the host found the plugin at fault
  std::string text;
  std::string hint;
  std::string pointer;  // class invalid_config: JSON pointer of the faulty value
  std::int32_t http_status = 0;
  std::optional<std::chrono::milliseconds> retry_after;  // 1 ms..kRetryAfterMax
};

inline constexpr std::size_t kOutcomeCodeBytesMax = 64;
inline constexpr std::size_t kOutcomeTextBytesMax = 2048;
inline constexpr std::size_t kOutcomePointerBytesMax = 512;
inline constexpr std::chrono::milliseconds kRetryAfterMax{24 * 3600 * 1000};

// The value of a plugin call, or why there is none.
template <typename T>
using CallResult = std::expected<T, Outcome>;

// Codes of the outcomes that the host itself makes: class fatal, scope connector.
inline constexpr std::string_view kContractCode = "plugin.contract";    // it returned what the ABI forbids
inline constexpr std::string_view kThrewCode = "plugin.threw";          // an exception crossed the ABI
inline constexpr std::string_view kNoReasonCode = "plugin.no_reason";   // it failed without saying why
inline constexpr std::string_view kCancelledCode = "plugin.cancelled";  // the host had cancelled the instance

// Codes of the outcomes that tell of the end of a plugin's own process: class transient, scope connector. The instance is of no more use.
inline constexpr std::string_view kProcessEndedCode = "plugin.process_ended";
inline constexpr std::string_view kProcessHungCode = "plugin.process_hung";

[[nodiscard]] Outcome contract_violation(std::string text);

// Reads an outcome that a plugin gave. Never trusts it: an unknown class, a null with a length or a struct that is too short is class
// fatal.
[[nodiscard]] Outcome read_outcome(const sluice_outcome* outcome, const std::vector<std::string>& secrets);

// A text of the ABI as a view, or nothing if it has a length but no bytes.
[[nodiscard]] std::optional<std::string_view> read_text(sluice_text text);

// The writer that a call passes to the plugin, and what arrived in it. The last outcome given counts. Lives as long as the call.
class OutcomeSlot {
 public:
  explicit OutcomeSlot(const std::vector<std::string>& secrets) : secrets_(secrets) {
    writer_ = {.struct_size = sizeof(sluice_outcome_writer), .reserved = 0, .host_data = this, .fail = &OutcomeSlot::on_fail};
  }
  OutcomeSlot(const OutcomeSlot&) = delete;
  OutcomeSlot& operator=(const OutcomeSlot&) = delete;

  [[nodiscard]] const sluice_outcome_writer* writer() const { return &writer_; }
  void set(const sluice_outcome* outcome) { outcome_ = read_outcome(outcome, secrets_); }
  [[nodiscard]] std::optional<Outcome>& outcome() { return outcome_; }

 private:
  static void on_fail(void* self, const sluice_outcome* outcome) noexcept { static_cast<OutcomeSlot*>(self)->set(outcome); }

  const std::vector<std::string>& secrets_;
  sluice_outcome_writer writer_{};
  std::optional<Outcome> outcome_;
};

}  // namespace sluice::plugin
