// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

namespace sluice::pipeline {

// Judges a sink by its last kOutcomesMax records, once there are kOutcomesMin: more dead letters than `ratio_max` of them means that the
// fault is not in the records. Pure; one per sink instance, worker thread.
class OutcomeWindow {
 public:
  static constexpr std::uint64_t kOutcomesMax = 1000;
  static constexpr std::uint64_t kOutcomesMin = 100;

  explicit OutcomeWindow(double ratio_max) : ratio_max_(ratio_max) {}

  void delivered(std::uint64_t records) { push(false, records); }
  void dead_lettered(std::uint64_t records = 1) { push(true, records); }

  [[nodiscard]] bool exceeded() const;
  [[nodiscard]] std::uint64_t judged() const { return total_; }
  [[nodiscard]] std::uint64_t dead() const { return dead_; }

 private:
  struct Run {
    bool dead;
    std::uint64_t records;
  };
  void push(bool dead, std::uint64_t records);

  double ratio_max_;
  std::deque<Run> runs_;  // oldest first; records sum to total_
  std::uint64_t total_ = 0;
  std::uint64_t dead_ = 0;
};

}  // namespace sluice::pipeline
