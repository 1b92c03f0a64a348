// SPDX-License-Identifier: Apache-2.0
// What recovery would do with a log, and why, without doing it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/log/entry_log.hpp"

namespace sluice::log {

struct Verdict {
  std::optional<Error> standing;  // refused at an earlier start: holds whatever the files say now
  std::optional<Error> refusal;   // what a start would say of the files as they are; `head` and the rest are empty then

  bool served_by_seals = false;  // a start that believes seals serves it all the same: reads of the damage fail

  std::uint64_t segments = 0;
  std::uint64_t segments_by_seal = 0;  // of these: complete ones whose seal was believed
  std::uint64_t entries = 0;           // verified
  std::uint64_t bytes_verified = 0;
  LogHead head;
  std::optional<LogHead> durable;    // was on the device for certain when the log was last open
  bool clean = false;                // the log was closed
  bool trusted = false;              // the witness is reached: only the process had died
  Op doubtful_to;                    // entries up to here may have been acknowledged
  std::optional<Offset> mint_from;   // a start would skip the offsets from the head to here
  std::vector<std::string> changes;  // what a start would change, one sentence each; empty: nothing

  [[nodiscard]] bool is_refused() const { return standing || refusal; }
};

// Reads only. Judges as a start with these options does. Errors: those of the operating system, which say nothing about the log. [blocking]
[[nodiscard]] Result<Verdict> verify(storage::Storage& storage, const LogOptions& options);

}  // namespace sluice::log
