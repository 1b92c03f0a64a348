// SPDX-License-Identifier: Apache-2.0
// What follows from a write: the table of failures, record by record.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "runtime/pipeline/failure.hpp"
#include "runtime/pipeline/lane.hpp"

namespace sluice::pipeline {

namespace {

plugin::Outcome ratio_exceeded(const OutcomeWindow& window, const plugin::Outcome& last) {
  plugin::Outcome outcome;
  outcome.outcome_class = plugin::OutcomeClass::kPermanent;
  outcome.scope = plugin::Scope::kConnector;
  outcome.code = "pipeline.dead_letter_ratio";
  outcome.text =
      fmt::format("{} of the last {} records became dead letters, more than [failure] dead_letter.max_ratio allows; the last one: {}",
                  window.dead(), window.judged(), last.text);
  outcome.hint = "Find out why, then `sluice connector restart`; `sluice dlq list` shows the records.";
  outcome.http_status = last.http_status;
  return outcome;
}

}  // namespace

Lane::Waiting Lane::hold(const LaneBatch& batch, std::size_t index) const {
  const LaneBatch::Item& item = batch.items[index];
  // In order, what waits is the rest of what was read, and it goes soon or everything waits with it. Otherwise others pass, and a record
  // must not hold megabytes of neighbours.
  if (options_.ordering == config::Ordering::kPartition) return {item.record, batch.owners[item.owner], {}};
  return copied(*item.record);
}

void Lane::wait(Waiting&& waiting) {
  waiting_bytes_ += record_bytes(waiting.record->record);
  const auto at = std::upper_bound(waiting_.begin(), waiting_.end(), waiting.record->offset,
                                   [](Offset offset, const Waiting& other) { return offset < other.record->offset; });
  waiting_.insert(at, std::move(waiting));
}

void Lane::accept(const LaneBatch& batch, const std::vector<bool>& untaken, Offset accepted_next) {
  // Consecutive offsets are settled together; a batch may have holes where gaps are or other records wait.
  const auto taken = [&](std::size_t i) { return batch.items[i].record->offset < accepted_next && (untaken.empty() || !untaken[i]); };
  for (std::size_t i = 0; i < batch.items.size();) {
    if (!taken(i)) {
      ++i;
      continue;
    }
    const Offset from = batch.items[i].record->offset;
    Offset to = from.next();
    for (++i; i < batch.items.size() && batch.items[i].record->offset == to && taken(i); ++i) to = to.next();
    progress_.settle(from, to, Fate::kAccepted);
    if (from < durable_reported_) late_accepts_ = true;
  }
}

LaneVerdict Lane::wrote(const LaneBatch& batch, const plugin::WriteReport& report, OutcomeWindow& window, Instant now, Random& random) {
  LaneVerdict verdict;
  const std::size_t count = batch.items.size();
  // Everything of a batch that was offered before leaves the waiting list here; what was not taken comes back below.
  std::vector<Waiting> offered;
  if (batch.offered_before) {
    offered.reserve(count);
    std::size_t i = 0;
    std::erase_if(waiting_, [&](Waiting& waiting) {
      if (i == count || waiting.record != batch.items[i].record) return false;
      ++i;
      waiting_bytes_ -= record_bytes(waiting.record->record);
      offered.push_back(std::move(waiting));
      return true;
    });
    SLUICE_ASSERT(offered.size() == count, "{} of {} offered records wait", offered.size(), count);
  }
  const auto held = [&](std::size_t i) { return batch.offered_before ? std::move(offered[i]) : hold(batch, i); };

  std::vector<bool> failed;
  if (!report.failures.empty()) {
    failed.resize(count);
    for (const plugin::RecordFailure& failure : report.failures) failed[failure.index] = true;
  }
  accept(batch, failed, report.accepted_next);
  for (std::size_t i = 0; i < count; ++i) {
    if (batch.items[i].record->offset < report.accepted_next && (failed.empty() || !failed[i])) ++verdict.taken;
  }
  unacked_bytes_ += verdict.taken == count ? batch.bytes : batch.bytes * verdict.taken / count;
  window.delivered(verdict.taken);
  durable(report.durable_next);

  if (verdict.taken < count) {
    std::size_t next_failure = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!failed.empty() && failed[i]) {
        const plugin::RecordFailure& failure = report.failures[next_failure++];
        if (options_.own_positions && batch.items[i].record->offset < report.accepted_next && !verdict.stop) {
          verdict.stop = plugin::contract_violation(
              fmt::format("the sink keeps positions of its own and went on to offset {} after record {} had failed", report.accepted_next,
                          batch.items[i].record->offset));
        }
        judge(held(i), failure.outcome, window, verdict, now, random);
      } else if (batch.items[i].record->offset >= report.accepted_next) {
        wait(held(i));
      }
    }
  }
  if (report.failure && !verdict.stop) {
    if (stops_connector(*report.failure)) {
      verdict.stop = report.failure;
    } else {
      verdict.connector_failure = report.failure;
    }
    if (report.failure->outcome_class == plugin::OutcomeClass::kAmbiguous) verdict.ambiguous += count - verdict.taken;
  }
  return verdict;
}

void Lane::judge(Waiting&& failed, const plugin::Outcome& outcome, OutcomeWindow& window, LaneVerdict& verdict, Instant now,
                 Random& random) {
  // Once the connector stops, nothing more is disposed of: these records are offered again at the next start.
  if (verdict.stop) return wait(std::move(failed));
  if (stops_connector(outcome)) {
    verdict.stop = outcome;
    return wait(std::move(failed));
  }
  if (outcome.scope == plugin::Scope::kConnector || outcome.outcome_class == plugin::OutcomeClass::kCancelled) {
    verdict.connector_failure = outcome;
    return wait(std::move(failed));
  }
  verdict.record_failure = outcome;
  if (outcome.outcome_class == plugin::OutcomeClass::kPermanent)
    return dispose(std::move(failed), outcome, options_.failure.record, window, verdict);

  if (outcome.outcome_class == plugin::OutcomeClass::kAmbiguous) ++verdict.ambiguous;
  const auto next = failed.retry.failed(now, options_.record_delays, options_.failure.transient, random.next(), outcome.retry_after);
  if (next == RecordRetry::Verdict::kExhausted)
    return dispose(std::move(failed), outcome, options_.failure.transient.then, window, verdict);
  ++verdict.retries;
  wait(std::move(failed));
}

void Lane::dispose(Waiting&& failed, const plugin::Outcome& outcome, config::Disposition disposition, OutcomeWindow& window,
                   LaneVerdict& verdict) {
  const Offset offset = failed.record->offset;
  switch (disposition) {
    case config::Disposition::kSkip:
      progress_.settle(offset, offset.next(), Fate::kSkipped);
      return;
    case config::Disposition::kStop:
      verdict.stop = outcome;
      return wait(std::move(failed));
    case config::Disposition::kDeadLetter:
      break;
  }
  const std::uint32_t attempts = std::max(failed.retry.attempts(), 1U);
  doomed_.push_back({failed.record, std::move(failed.owner), outcome, attempts});
  window.dead_lettered();
  if (window.exceeded()) verdict.stop = ratio_exceeded(window, outcome);
}

}  // namespace sluice::pipeline
