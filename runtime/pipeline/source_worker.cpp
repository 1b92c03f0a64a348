// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/source_worker.hpp"

#include <algorithm>
#include <tuple>

#include "runtime/pipeline/failure.hpp"

namespace sluice::pipeline {

Ending SourceWorker::serve() {
  context_.board->enter(StateTracker::Phase::kRunning);
  log_.info("running");
  show(now());
  while (!stopping() && !ending_) {
    if (paused() && !pause()) continue;
    inbox_->run(Instant{0});
    if (retry_.waiting(now())) {
      wait(retry_.due_at());
      continue;
    }
    poll_once();
    if (!uncertain_) show(now());
  }
  return ending_.value_or(Ending{});
}

void SourceWorker::poll_once() {
  const Instant start = now();
  const std::uint64_t allowed = rate_.available(start);
  if (allowed == 0) return wait(rate_.next_at());

  woken_->store(false, std::memory_order_release);
  batch_->begin();
  plugin::PollRequest request;
  request.records_max = narrow<std::uint32_t>(std::min<std::uint64_t>(allowed, config().batching.records_max));
  request.bytes_max = std::min(config().batching.bytes_max, kPollBytesMax);
  request.wait_until = start + kPollWaitMax;
  request.batch_id = ++batch_id_;
  // A poll that waits for input is no stall; one that waits longer than it may, is.
  context_.board->update([&](ConnectorStatus&, StateTracker& tracker, Instant) { tracker.call_begins(request.wait_until); });
  auto report = gate_.pass([&] { return instance_->poll(request, *batch_, call_options(retry_.attempts() + 1)); });
  context_.board->update([](ConnectorStatus&, StateTracker& tracker, Instant) { tracker.call_ends(); });

  if (batch_->stop()) {
    plugin::Outcome why = *batch_->stop();
    if (report.records > 0)
      std::ignore = gate_.pass([&] { return instance_->on_result(request.batch_id, /*acknowledged=*/false, call_options()); });
    return fail_session(std::move(why), /*restartable=*/false);
  }
  if (report.failure) return poll_failed(*report.failure);
  rate_.take(report.records);
  // A source that says the same at every idle poll must not fill the log with it.
  const bool same_state = report.state && state_.state_version == descriptor_.state_version && *report.state == state_.bytes;
  if (report.records == 0 && same_state) report.state.reset();
  if (report.records == 0 && !report.state) {
    retry_.succeeded();
    if (!report.full) idle(request.wait_until);
    return;
  }
  deliver(report, request.batch_id);
  if (report.records == 0 && retry_.attempts() == 0) idle(request.wait_until);
}

void SourceWorker::idle(Instant until) {
  while (!stopping() && !woken() && !paused() && now() < until) wait(until);
}

void SourceWorker::poll_failed(const plugin::Outcome& outcome) {
  if (stopping()) return;
  if (stops_connector(outcome)) return fail_session(outcome, /*restartable=*/false);
  if (ends_session(outcome)) return fail_session(outcome, /*restartable=*/true);
  retry_.failed(now(), random_.next(), outcome.retry_after);
  log_.warn("attempt {} failed: {}", retry_.attempts(), outcome.text);
  context_.board->update([&](ConnectorStatus& status, StateTracker&, Instant) {
    ++status.retries;
    status.last_error = to_problem(outcome, context_.clock->wall());
  });
}

void SourceWorker::deliver(plugin::PollReport& report, std::uint64_t batch_id) {
  context_.board->update([](ConnectorStatus&, StateTracker& tracker, Instant now) { tracker.set_lagging(true, now); });
  const auto appended = append_all(report);
  if (uncertain_) return;  // the log knows; on_result would be a guess
  if (report.records > 0) {
    const auto told = call([&] { return instance_->on_result(batch_id, appended.has_value(), call_options()); });
    if (!told) {
      log_.warn("on_result failed, {}: {}", appended ? "the records are in the log" : "the records are not in the log", told.error().text);
      context_.board->report(told.error());
      if (stops_connector(told.error()) || ends_session(told.error())) fail_session(told.error(), ends_session(told.error()));
    }
  }
  context_.board->update([&](ConnectorStatus& status, StateTracker& tracker, Instant now) {
    tracker.set_lagging(false, now);
    status.bytes_in += report.bytes;
    if (appended) status.bytes_out += report.bytes;
    if (!appended && report.records > 0) ++status.nacks;
  });
  if (appended) {
    retry_.succeeded();
    context_.board->succeeded();
    return;
  }
  const plugin::Outcome outcome = to_outcome(appended.error());
  if (stops_connector(outcome)) return fail_session(outcome, /*restartable=*/false);
  if (partition_is_gone(appended.error())) return fail_session(outcome, /*restartable=*/true);
  poll_failed(outcome);
}

bool SourceWorker::pause() {
  log_.info("pausing");
  const auto paused_now = call([&] { return instance_->pause(call_options()); });
  if (!paused_now) poll_failed(paused_now.error());
  wait_while_paused();
  if (stopping() || ending_) return false;
  const auto resumed = call([&] { return instance_->resume(call_options()); });
  context_.board->enter(StateTracker::Phase::kRunning);
  if (!resumed) poll_failed(resumed.error());
  return !ending_;
}

void SourceWorker::show(Instant) {
  context_.board->update([&](ConnectorStatus& status, StateTracker& tracker, Instant) {
    status.source = SourceStatus{.in = state_.in,
                                 .appended = state_.accounting.delivered,
                                 .filtered = state_.accounting.filtered,
                                 .skipped = state_.accounting.skipped,
                                 .dead_lettered = state_.accounting.dead_lettered,
                                 .state_sequence = state_.sequence};
    if (retry_.attempts() > 0) {
      tracker.set_retry(retry_.due_at());
    } else {
      tracker.clear_retry();
    }
  });
}

void SourceWorker::wind_down() {
  (void)end_by();
  context_.board->enter(StateTracker::Phase::kStopping);
  const auto closed = call([&] { return instance_->close(call_options()); });
  if (!closed && !ends_session(closed.error())) log_.warn("close failed: {}", closed.error().text);
  destroy(std::move(instance_));
}

void SourceWorker::fail_session(plugin::Outcome outcome, bool restartable) {
  if (!ending_) ending_ = failed(std::move(outcome), restartable);
}

}  // namespace sluice::pipeline
