// SPDX-License-Identifier: Apache-2.0
// Zeros ahead of the entries: docs/reference/log-format.md, "Zeros ahead".
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/clock.hpp"

namespace sluice::log {

inline constexpr std::uint64_t kPrewriteStepBytes = 256u << 10;
inline constexpr std::uint64_t kPrewriteAheadMax = 16u << 20;    // of one log
inline constexpr std::uint64_t kPrewriteNodeBytes = 512u << 20;  // of all logs of a node
inline constexpr std::chrono::seconds kPrewriteIdle{5};          // without a flush: then the zeros are given back
inline constexpr std::uint64_t kPrewriteAlignment = 512;         // a sector that holds an entry is not written again for zeros

// How many zeros the logs that share it may have ahead. [any thread]
class PrewriteBudget {
 public:
  explicit PrewriteBudget(std::uint64_t bytes = kPrewriteNodeBytes) : left_(bytes) {}

  // All or nothing.
  [[nodiscard]] bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { left_.fetch_add(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t left() const { return left_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> left_;
};

// Says which zeros one log writes, and when: beside a flush, a step at a time, so that what is ahead lasts for about a second. A flush that
// is as large as a step gets none: it has little to gain. State machine without I/O, one owner.
class Prewriter {
 public:
  struct Step {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  // Without a budget there are no zeros. None of them lies beyond `segment_bytes`.
  Prewriter(std::shared_ptr<PrewriteBudget> budget, std::uint64_t segment_bytes)
      : budget_(std::move(budget)), segment_bytes_(segment_bytes) {}
  ~Prewriter() { cut(); }
  Prewriter(const Prewriter&) = delete;
  Prewriter& operator=(const Prewriter&) = delete;

  // A flush of `bytes` that ends at `end` has begun: the step to write beside it, if one is due. Call on_done() after it.
  [[nodiscard]] std::optional<Step> next(std::uint64_t end, std::uint64_t bytes, Clock::Monotonic now);
  void on_done() { step_.reset(); }
  // The disk is full: no more in this file.
  void stop() { stopped_ = true; }
  // The file ends with its entries again, because nobody fills the zeros: the next ones are for a flush that follows another one soon.
  void rest();
  // The same, because the file is complete or another one is the active one.
  void cut();

  [[nodiscard]] bool under_way() const { return step_.has_value(); }
  // Whether a write up to `end` would meet the step that is under way.
  [[nodiscard]] bool blocks(std::uint64_t end) const { return step_ && end > step_->begin; }
  // Whether the file may be longer than its entries, which end at `end`.
  [[nodiscard]] bool reaches_beyond(std::uint64_t end) const { return end_ > end; }

 private:
  void count(std::uint64_t bytes, Clock::Monotonic now);
  void hold(std::uint64_t bytes);

  std::shared_ptr<PrewriteBudget> budget_;
  std::uint64_t segment_bytes_;
  std::uint64_t end_ = 0;   // of the zeros, also of those that are being written
  std::uint64_t held_ = 0;  // of the budget
  std::optional<Step> step_;
  bool stopped_ = false;
  bool rested_ = false;
  Clock::Monotonic flushed_at_{};
  Clock::Monotonic second_began_{};
  std::uint64_t second_bytes_ = 0;       // flushed in this second so far
  std::uint64_t last_second_bytes_ = 0;  // and in the one before
};

}  // namespace sluice::log
