// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/outcome_window.hpp"

#include <algorithm>

namespace sluice::pipeline {

void OutcomeWindow::push(bool dead, std::uint64_t records) {
  if (records == 0) return;
  records = std::min(records, kOutcomesMax);
  if (!runs_.empty() && runs_.back().dead == dead) {
    runs_.back().records += records;
  } else {
    runs_.push_back({dead, records});
  }
  total_ += records;
  if (dead) dead_ += records;
  while (total_ > kOutcomesMax) {
    Run& oldest = runs_.front();
    const std::uint64_t gone = std::min(oldest.records, total_ - kOutcomesMax);
    oldest.records -= gone;
    total_ -= gone;
    if (oldest.dead) dead_ -= gone;
    if (oldest.records == 0) runs_.pop_front();
  }
}

bool OutcomeWindow::exceeded() const {
  return total_ >= kOutcomesMin && static_cast<double>(dead_) > ratio_max_ * static_cast<double>(total_);
}

}  // namespace sluice::pipeline
