// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/pipeline/failure.hpp"
#include "runtime/pipeline/sink_worker.hpp"

namespace sluice::pipeline {

void SinkWorker::show_slot(const SinkSlot& slot, PartitionStatus& shown) const {
  const PartitionProgress& progress = slot.lane.progress();
  if (shown.topic.topic.empty()) {
    shown.topic = slot.assignment.topic;
    shown.partition = slot.assignment.partition;
  }
  shown.epoch = slot.assignment.epoch;
  shown.start_offset = progress.start_offset();
  shown.committed_next = progress.committed_next();
  shown.high_watermark = std::max(slot.high_watermark, progress.committed_next());
  shown.accounting = progress.accounting();
  // Counted from the queues, and from what is settled but not committed.
  shown.pending = slot.lane.queued_records();
  for (const Fate fate :
       {Fate::kAccepted, Fate::kDelivered, Fate::kFiltered, Fate::kSkipped, Fate::kDeadLettered, Fate::kExpired, Fate::kGap}) {
    shown.pending += progress.count(fate);
  }
  shown.lag_records = shown.high_watermark - shown.committed_next;
  shown.oldest_at = slot.arrivals.empty() ? std::nullopt : std::optional(slot.arrivals.front().second);
  shown.attempts = 0;
  shown.next_retry_at.reset();
  shown.problem.reset();
  if (const auto record = slot.lane.holdup()) {
    shown.attempts = record->attempts;
    shown.next_retry_at = wall_at(*context_.clock, record->due_at);
    shown.problem = slot.problem;
  } else if (const RetrySchedule* all = holdup()) {
    shown.attempts = all->attempts();
    shown.next_retry_at = wall_at(*context_.clock, all->due_at());
    shown.problem = connector_problem_;
  }
}

void SinkWorker::show(Instant now) {
  std::optional<Instant> retry_at;
  const auto consider = [&](Instant at) { retry_at = retry_at ? std::min(*retry_at, at) : at; };
  for (const RetrySchedule* retry : {&retry_, &flush_retry_}) {
    if (retry->attempts() > 0) consider(retry->due_at());
  }
  for (const auto& slot : slots_) {
    if (const auto record = slot->lane.holdup()) consider(record->due_at);
    for (const RetrySchedule* retry : {&slot->read_retry, &slot->commit_retry, &slot->bury_retry}) {
      if (retry->attempts() > 0) consider(retry->due_at());
    }
  }
  context_.board->update([&](ConnectorStatus& status, StateTracker& tracker, Instant) {
    bool lagging = false;
    status.queue_records = 0;
    status.queue_bytes = 0;
    for (const auto& slot : slots_) {
      PartitionStatus& shown = status.partitions[slot->shown_at];
      show_slot(*slot, shown);
      lagging = lagging || shown.lag_records > 0;
      status.queue_records += slot->lane.queued_records();
      status.queue_bytes += slot->lane.queued_bytes();
    }
    tracker.set_lagging(lagging, now);
    if (retry_at) {
      tracker.set_retry(*retry_at);
    } else {
      tracker.clear_retry();
    }
  });
}

}  // namespace sluice::pipeline
