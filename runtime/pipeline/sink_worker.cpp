// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/sink_worker.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/pipeline/failure.hpp"

namespace sluice::pipeline {

Ending SinkWorker::serve() {
  context_.board->enter(StateTracker::Phase::kRunning);
  log_.info("running, {} partitions", slots_.size());
  while (!stopping() && !ending_) {
    if (paused()) {
      pause();
      continue;
    }
    inbox_->run(Instant{0});
    const Instant start = now();
    advance(start);
    bool busy = false;
    if (!ending_ && !retry_.waiting(start) && !flush_retry_.waiting(start)) {
      // What could not be flushed is flushed before anything is added to it.
      busy = flush_retry_.attempts() == 0 && write_next(start);
      if (!ending_ && !busy && flush_due(now())) {
        flush(now());
        busy = true;
      }
    }
    if (!busy || slots_.back()->limit) end_redrive_if_done();
    show(start);
    if (!busy && !ending_) wait(wake_at(now()));
  }
  return ending_.value_or(Ending{});
}

void SinkWorker::advance(Instant now) {
  for (const auto& slot : slots_) {
    if (!winding_down_) {
      read_ahead(*slot, now);
      bury(*slot, now);
    }
    commit(*slot, now);
  }
}

bool SinkWorker::write_next(Instant now) {
  const std::uint64_t allowed = rate_.available(now);
  if (allowed == 0) return false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    SinkSlot& slot = *slots_[(next_slot_ + i) % slots_.size()];
    if (!slot.lane.take(now, allowed, batch_)) continue;
    next_slot_ = (next_slot_ + i + 1) % slots_.size();
    write(slot);
    return true;
  }
  return false;
}

void SinkWorker::write(SinkSlot& slot) {
  const sluice_batch& batch = sink_batch_.fill(slot.assignment, batch_, slot.origins);
  const std::uint32_t attempt = std::max(batch_.attempt, retry_.attempts() + 1);
  const plugin::WriteReport report = call([&] { return instance_->write(slot.assignment.ref, batch, call_options(attempt)); });
  const Instant after = now();
  // Redriven dead letters are no judgement of the sink: they were bad once already.
  OutcomeWindow redrive_window(1.0);
  const LaneVerdict verdict = slot.lane.wrote(batch_, report, slot.limit ? redrive_window : window_, after, random_);
  after_write(slot, report, verdict, after);
  bury(slot, after);
  commit(slot, after);
}

void SinkWorker::after_write(SinkSlot& slot, const plugin::WriteReport& report, const LaneVerdict& verdict, Instant now) {
  rate_.take(verdict.taken);
  for (const plugin::DurableAdvance& advance : report.others) {
    const auto other = std::ranges::find_if(slots_, [&](const auto& s) { return s->assignment.ref == advance.partition; });
    if (other != slots_.end()) (*other)->lane.durable(advance.durable_next);
  }
  if (!unflushed_since_ && slot.lane.unflushed()) unflushed_since_ = now;
  if (!verdict.connector_failure) retry_.succeeded();
  if (verdict.record_failure) slot.problem = to_problem(*verdict.record_failure, context_.clock->wall());
  // Taken is no success yet: that is told when it is committed.
  context_.board->update([&](ConnectorStatus& status, StateTracker&, Instant) {
    status.retries += verdict.retries;
    status.possible_duplicates += verdict.ambiguous;
    if (verdict.record_failure) status.last_error = slot.problem;
    if (verdict.taken > 0) status.bytes_out += batch_.bytes * verdict.taken / batch_.items.size();
  });
  if (verdict.connector_failure) connector_failed(retry_, *verdict.connector_failure, now);
  if (verdict.stop) {
    // Broken plugins and bad configuration stay as they are, and so does a sink whose records all fail: somebody has to look.
    fail_session(*verdict.stop, /*restartable=*/false);
  }
}

void SinkWorker::connector_failed(RetrySchedule& retry, const plugin::Outcome& outcome, Instant now) {
  if (stopping()) return;
  if (ends_session(outcome)) return fail_session(outcome, /*restartable=*/true);
  retry.failed(now, random_.next(), outcome.retry_after);
  log_.warn("attempt {} failed, everything waits: {}", retry.attempts(), outcome.text);
  connector_problem_ = to_problem(outcome, context_.clock->wall());
  context_.board->update([&](ConnectorStatus& status, StateTracker&, Instant) {
    ++status.retries;
    status.last_error = connector_problem_;
  });
}

const RetrySchedule* SinkWorker::holdup() const {
  if (flush_retry_.attempts() > 0) return &flush_retry_;
  return retry_.attempts() > 0 ? &retry_ : nullptr;
}

bool SinkWorker::flush_due(Instant now) const {
  if (!unflushed_since_) return false;
  if (flush_retry_.attempts() > 0) return !flush_retry_.waiting(now);
  if (now >= *unflushed_since_ + kFlushIntervalMax) return true;
  bool idle = true;
  for (const auto& slot : slots_) {
    if (slot->lane.must_flush()) return true;
    idle = idle && (slot->caught_up() || slot->lane.holdup());
  }
  return idle;
}

void SinkWorker::flush(Instant now) {
  const plugin::FlushReport report = call([&] { return instance_->flush(call_options(flush_retry_.attempts() + 1)); });
  for (const auto& slot : slots_) {
    if (!report.failure) slot->lane.flushed();
    for (const plugin::DurableAdvance& advance : report.durable) {
      if (advance.partition == slot->assignment.ref) slot->lane.durable(advance.durable_next);
    }
  }
  if (report.failure) {
    unflushed_since_ = now;
    if (stops_connector(*report.failure)) return fail_session(*report.failure, /*restartable=*/false);
    return connector_failed(flush_retry_, *report.failure, now);
  }
  unflushed_since_.reset();
  flush_retry_.succeeded();
  context_.board->succeeded();
  for (const auto& slot : slots_) commit(*slot, now);
}

Instant SinkWorker::wake_at(Instant now) const {
  Instant at = now + kReadWaitMax;
  const auto consider = [&](Instant candidate) { at = std::min(at, candidate); };
  const bool held = retry_.waiting(now) || flush_retry_.waiting(now);
  if (retry_.waiting(now)) consider(retry_.due_at());
  if (flush_retry_.waiting(now)) consider(flush_retry_.due_at());
  if (unflushed_since_ && !held) consider(*unflushed_since_ + kFlushIntervalMax);
  bool ready = false;
  for (const auto& slot : slots_) {
    if (const auto next = slot->lane.next_at(now); next && !held) consider(*next);
    for (const RetrySchedule* retry : {&slot->read_retry, &slot->commit_retry, &slot->bury_retry}) {
      if (retry->waiting(now)) consider(retry->due_at());
    }
    ready = ready || slot->lane.queued_records() > 0;
  }
  if (ready && !held && rate_.next_at() > now) consider(rate_.next_at());
  // Whatever was due already has been tried just now: a floor keeps a lane that waits for something else from spinning.
  return std::max(at, now + std::chrono::milliseconds(1));
}

void SinkWorker::pause() {
  log_.info("pausing");
  if (unflushed_since_) flush(now());
  context_.board->enter(StateTracker::Phase::kPaused);
  while (paused() && !stopping() && !ending_) {
    const Instant start = now();
    for (const auto& slot : slots_) commit(*slot, start);
    show(start);
    wait(start + kReadWaitMax);
  }
  if (!stopping() && !ending_) context_.board->enter(StateTracker::Phase::kRunning);
}

void SinkWorker::wind_down() {
  winding_down_ = true;
  const Instant end = end_by();
  context_.board->enter(StateTracker::Phase::kStopping);
  // A plugin that broke its contract, or whose process has ended, is not asked for more.
  const bool broken =
      ending_ && ending_->failure && (ending_->failure->outcome_class == plugin::OutcomeClass::kFatal || ends_session(*ending_->failure));
  if (unflushed_since_ && !broken) {
    const plugin::FlushReport report = call([&] { return instance_->flush(call_options()); });
    for (const auto& slot : slots_) {
      if (!report.failure) slot->lane.flushed();
      for (const plugin::DurableAdvance& advance : report.durable) {
        if (advance.partition == slot->assignment.ref) slot->lane.durable(advance.durable_next);
      }
    }
    if (report.failure) log_.warn("the last flush failed, what it held is delivered again at the next start: {}", report.failure->text);
  }
  // Dead letters that made the connector stop are still to be kept: their offsets move with them.
  if (!stopping()) {
    for (const auto& slot : slots_) bury(*slot, now());
  }
  const auto settled = [&] {
    return std::ranges::all_of(slots_, [](const auto& slot) {
      return !slot->burying && !slot->lane.commit_in_flight() &&
             (slot->commit_retry.attempts() > 0 || !slot->lane.progress().committable());
    });
  };
  for (;;) {
    inbox_->run(Instant{0});
    for (const auto& slot : slots_) commit(*slot, now());
    if (settled() || now() >= end) break;
    wait(end);
  }
  show(now());
  std::vector<client::PartitionRef> owned;
  owned.reserve(slots_.size());
  for (const auto& slot : slots_) owned.push_back(slot->assignment.ref);
  if (!owned.empty() && !broken) {
    const auto revoked = call([&] { return instance_->revoke(owned, call_options()); });
    if (!revoked && revoked.error().outcome_class != plugin::OutcomeClass::kCancelled) log_.warn("revoke failed: {}", revoked.error().text);
  }
  const auto closed = call([&] { return instance_->close(call_options()); });
  if (!closed && !ends_session(closed.error())) log_.warn("close failed: {}", closed.error().text);
  destroy(std::move(instance_));
}

void SinkWorker::fail_session(plugin::Outcome outcome, bool restartable) {
  if (!ending_) ending_ = failed(std::move(outcome), restartable);
}

}  // namespace sluice::pipeline
