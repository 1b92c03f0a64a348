// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/log/entry_log.hpp"
#include "core/log/scrub.hpp"

namespace sluice::log {

// What is known of the sealed segments of one log in this run: when each was verified last, which of them are damaged, and where a scrub
// goes on. No I/O and no clock.
class ScrubRecord {
 public:
  using Instant = Clock::Monotonic;

  // Where to look next: in the segment that is begun, else at the beginning of the oldest one that is due. A segment is due at once if the
  // start has believed its seal, and `interval` after it was verified or, of one that this run has written, seen first. Segments that are
  // not among `segments` any more are forgotten, with their damage.
  [[nodiscard]] std::optional<ScrubPlace> next(std::span<const EntryLog::SegmentInfo> segments, Instant now,
                                               std::chrono::nanoseconds interval);
  // What the step from there has found. Whether it is damage that was not known.
  [[nodiscard]] bool note(const ScrubStep& step, Instant now);

  [[nodiscard]] const std::map<Op, Error>& damage() const { return damage_; }  // by first op of the segment
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }                 // that were looked at
  [[nodiscard]] std::size_t due() const { return due_; }                       // segments, when next() was asked last

 private:
  void forget_others(std::span<const EntryLog::SegmentInfo> segments);

  std::map<Op, Instant> verified_;
  std::map<Op, Error> damage_;
  std::optional<ScrubPlace> begun_;
  std::uint64_t bytes_ = 0;
  std::size_t due_ = 0;
};

}  // namespace sluice::log
