// SPDX-License-Identifier: Apache-2.0
#include "core/log/unsynced_budget.hpp"

#include <algorithm>
#include <utility>

#include "core/base/mutation.hpp"

namespace sluice::log {

UnsyncedBudget::Share::~Share() {
  if (!budget_ || !is_known_) return;
  clear();
  std::erase(budget_->waiting_, this);
  if (budget_->next_ == this) budget_->next_ = nullptr;
}

void UnsyncedBudget::Share::set(std::uint64_t bytes) {
  const std::uint64_t before = std::exchange(bytes_, bytes);
  if (!budget_ || before == bytes) return;
  is_known_ = true;
  budget_->bytes_ = budget_->bytes_ - before + bytes;
  if (bytes == 0)
    budget_->unasked_.erase(this);
  else
    budget_->unasked_.insert(this);
}

bool UnsyncedBudget::Share::may_add(std::uint64_t bytes) {
  if (!budget_) return true;
  is_known_ = true;
  UnsyncedBudget& all = *budget_;
  const bool has_turn = std::exchange(all.next_, all.next_ == this ? nullptr : all.next_) == this;
  const bool fits = SLUICE_MUTATED(kUnsyncedUnbounded) || all.bytes_ == 0 || all.bytes_ + bytes <= all.bytes_max_;
  if (fits && (has_turn || all.waiting_.empty())) return true;
  if (has_turn)
    all.waiting_.push_front(this);
  else if (std::ranges::find(all.waiting_, this) == all.waiting_.end())
    all.waiting_.push_back(this);
  std::erase_if(all.unasked_, [](Share* holder) { return holder->sync_() && !SLUICE_MUTATED(kHoldersAskedAgain); });
  return false;
}

void UnsyncedBudget::Share::let_others_in() {
  if (!budget_ || !is_known_ || budget_->waking_) return;
  const auto all = budget_;  // whoever is let in may destroy this
  all->waking_ = true;
  while (!all->waiting_.empty()) {
    Share* const first = all->waiting_.front();
    all->waiting_.pop_front();
    all->next_ = first;
    first->on_room_();
    all->next_ = nullptr;
    if (!all->waiting_.empty() && all->waiting_.front() == first) break;  // still none
  }
  all->waking_ = false;
}

}  // namespace sluice::log
