// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/sim_io_queue.hpp"

#include <algorithm>
#include <utility>

#include "core/base/assert.hpp"

namespace sluice::sim {

void SimIoQueue::submit(Job job, Done done) {
  SLUICE_ASSERT(items_.size() < kQueuedJobsMax, "{} jobs wait", items_.size());
  ++submitted_;
  items_.push_back(
      {.job = std::move(job), .done = std::move(done), .outcome = std::nullopt, .ready_at = 0, .blocked = held_.erase(submitted_) != 0});
}

void SimIoQueue::run_job(std::size_t at) {
  (void)storage_.plan().take_delay();  // of operations outside of jobs
  Job job = std::move(items_[at].job);
  Result<void> outcome = job();
  const FaultPlan::Delay delay = storage_.plan().take_delay();
  items_[at].outcome = std::move(outcome);
  items_[at].ready_at = step_ + delay.steps;
  items_[at].blocked = delay.stuck;
}

bool SimIoQueue::run_one() {
  ++step_;
  std::vector<std::size_t> ready;
  std::optional<std::uint64_t> earliest;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].blocked) continue;
    earliest = std::min(earliest.value_or(items_[i].ready_at), items_[i].ready_at);
  }
  if (!earliest) return false;
  step_ = std::max(step_, *earliest);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!items_[i].blocked && items_[i].ready_at <= step_) ready.push_back(i);
  }
  const std::size_t at = ready[random_.below(ready.size())];
  if (!items_[at].outcome) {
    run_job(at);
    return true;
  }
  Item item = std::move(items_[at]);
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
  item.done(*std::move(item.outcome));
  return true;
}

std::size_t SimIoQueue::run_until_idle() {
  std::size_t steps = 0;
  while (run_one()) {
    ++steps;
    SLUICE_ASSERT(steps < kIdleStepsMax, "the queue does not come to rest");
  }
  return steps;
}

void SimIoQueue::release() {
  for (Item& item : items_) item.blocked = false;
}

void SimIoQueue::drop() {
  // Their destruction may reach back here.
  std::vector<Item> dropped;
  dropped.swap(items_);
}

std::size_t SimIoQueue::blocked() const {
  return static_cast<std::size_t>(std::count_if(items_.begin(), items_.end(), [](const Item& item) { return item.blocked; }));
}

}  // namespace sluice::sim
