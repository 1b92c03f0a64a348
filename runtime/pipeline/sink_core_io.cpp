// SPDX-License-Identifier: Apache-2.0
// What a sink worker asks of the core, and its answers.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/pipeline/failure.hpp"
#include "runtime/pipeline/sink_worker.hpp"

namespace sluice::pipeline {

namespace {

// A read takes several small batches at once, and no more bytes than its records are likely to have: what is read and not returned is read
// again.
constexpr std::uint32_t kReadRecordsMin = 4000;
constexpr std::uint64_t kRecordOverheadBytes = 64;  // a record in the log, beside key, payload and headers

}  // namespace

void SinkWorker::read_ahead(SinkSlot& slot, Instant now) {
  if (slot.reading || slot.read_retry.waiting(now)) return;
  if (slot.lane.fresh_records() >= config().batching.records_max || slot.lane.queued_bytes() >= read_bytes_max_) return;
  if (slot.limit && slot.lane.read_next() >= *slot.limit) return;
  slot.reading = true;
  client::ReadRequest request{.from = slot.lane.read_next(),
                              .records_max = std::max(config().batching.records_max, kReadRecordsMin),
                              .bytes_max = std::clamp(kReadRecordsMin * (slot.record_bytes_mean + kRecordOverheadBytes),
                                                      std::min(kReadBytesMin, read_bytes_max_), read_bytes_max_),
                              .wait_max = kReadWaitMax};
  if (slot.limit) request.records_max = narrow<std::uint32_t>(std::min<std::uint64_t>(request.records_max, *slot.limit - request.from));
  context_.client->read(slot.assignment.ref, request, [this, inbox = inbox_, &slot](Result<client::UndecodedRead> found) mutable {
    inbox->post([this, &slot, found = std::move(found)]() mutable { on_read(slot, std::move(found)); });
  });
}

void SinkWorker::on_read(SinkSlot& slot, Result<client::UndecodedRead> found) {
  slot.reading = false;
  if (winding_down_ || ending_) return;
  if (!found) return on_read_failed(slot, found.error());
  Result<client::ReadResult> result = (*found)();
  if (!result) return on_read_failed(slot, result.error());
  slot.read_retry.succeeded();
  slot.high_watermark = std::max(slot.high_watermark, result->high_watermark);
  if (result->next == slot.lane.read_next()) return;
  const Offset from = slot.lane.read_next();
  if (slot.limit) result = unwrap_dead_letters(slot, *std::move(result));
  std::uint64_t bytes = 0;
  for (const client::LogRecord& record : result->records) bytes += record_bytes(record.record);
  if (!result->records.empty()) slot.record_bytes_mean = (slot.record_bytes_mean + bytes / result->records.size()) / 2;
  if (!result->records.empty()) slot.arrivals.emplace_back(from, result->records.front().timestamp);
  const auto added =
      slot.lane.add(std::make_shared<const client::ReadResult>(*std::move(result)), now(), slot.limit ? Fate::kSkipped : Fate::kGap);
  if (!added) return fail_session(to_outcome(added.error()), /*restartable=*/true);
  context_.board->update([&](ConnectorStatus& status, StateTracker&, Instant) { status.bytes_in += bytes; });
}

void SinkWorker::on_read_failed(SinkSlot& slot, const Error& error) {
  if (error.is(client::Errc::kOutOfRange)) {
    const auto earliest = earliest_of(error);
    const Offset from = slot.lane.read_next();
    // A redrive takes what is left of the dead letters: that some are gone is no reason to stop the connector.
    if (earliest && *earliest > from && (slot.limit || config().out_of_range_to_earliest)) {
      const std::uint64_t gone = slot.lane.expire(std::min(*earliest, slot.limit.value_or(*earliest)));
      log_.warn("{} records of partition {} of {} were removed by retention before they were read; going on at offset {}", gone,
                slot.assignment.partition, client::to_string(slot.assignment.topic), *earliest);
      return;
    }
    plugin::Outcome outcome = to_outcome(error);
    outcome.outcome_class = plugin::OutcomeClass::kPermanent;
    if (earliest && *earliest > from) {
      outcome.text = fmt::format(
          "{} records of partition {} of {} were removed by retention before they were read: the next offset is {}, the earliest left is "
          "{}",
          *earliest - from, slot.assignment.partition, client::to_string(slot.assignment.topic), from, *earliest);
      outcome.hint = "Set on_out_of_range = \"earliest\" to go on and count them as expired.";
    }
    return fail_session(std::move(outcome), /*restartable=*/false);
  }
  core_failed(slot.read_retry, error);
}

void SinkWorker::commit(SinkSlot& slot, Instant now) {
  if (!slot.positioned || slot.commit_retry.waiting(now)) return;
  const auto commit = slot.lane.begin_commit();
  if (!commit) return;
  context_.client->commit(slot.assignment.ref, config().key, slot.assignment.epoch, commit->next, commit->accounting,
                          [this, inbox = inbox_, &slot](Result<void> result) mutable {
                            inbox->post([this, &slot, result = std::move(result)]() mutable { on_commit(slot, std::move(result)); });
                          });
}

void SinkWorker::on_commit(SinkSlot& slot, Result<void> result) {
  if (!result) {
    slot.lane.commit_failed();
    return core_failed(slot.commit_retry, result.error());
  }
  slot.commit_retry.succeeded();
  slot.lane.commit_succeeded();
  // The timestamp of a read stands for its records until the next one begins.
  const Offset committed = slot.lane.progress().committed_next();
  while (slot.arrivals.size() > 1 && slot.arrivals[1].first <= committed) slot.arrivals.pop_front();
  if (slot.lane.progress().drained()) slot.arrivals.clear();
  slot.origins.erase(slot.origins.begin(), slot.origins.lower_bound(committed));
  context_.board->succeeded();
}

void SinkWorker::bury(SinkSlot& slot, Instant now) {
  if (slot.burying || slot.lane.doomed().empty() || slot.bury_retry.waiting(now)) return;
  client::AppendBatch batch;
  std::size_t count = 0;
  for (const DoomedRecord& doomed : slot.lane.doomed()) {
    if (count == kBuryRecordsMax || batch.size_bytes() >= kBuryBytesMax) break;
    DeadLetterReason reason = make_reason(doomed.outcome);
    reason.connector = config().key;
    reason.plugin_version = descriptor_.version;
    reason.attempts = doomed.attempts;
    reason.failed_at = context_.clock->wall();
    const auto origin = slot.origins.find(doomed.record->offset);
    if (origin != slot.origins.end()) {
      reason.source = origin->second.source;
      reason.source_timestamp = origin->second.source_timestamp;
    } else {
      reason.source = {context_.cluster_id, slot.assignment.topic, slot.assignment.partition, slot.assignment.incarnation,
                       doomed.record->offset};
      reason.source_timestamp = doomed.record->timestamp;
    }
    const Record letter = encode_dead_letter(doomed.record->record, reason);
    if (const auto added = batch.add(letter.view()); !added) {
      if (count > 0) break;
      return fail_session(to_outcome(added.error()), /*restartable=*/true);
    }
    ++count;
  }
  slot.burying = true;
  context_.client->append(
      dead_letters_.partitions.front().ref, std::move(batch),
      [this, inbox = inbox_, &slot, count](Result<client::AppendResult> result) mutable {
        inbox->post([this, &slot, count, result = std::move(result)]() mutable { on_buried(slot, count, std::move(result)); });
      });
}

void SinkWorker::on_buried(SinkSlot& slot, std::size_t count, Result<client::AppendResult> result) {
  slot.burying = false;
  if (!result) return core_failed(slot.bury_retry, result.error());
  slot.bury_retry.succeeded();
  slot.lane.buried(count);
  log_.warn("{} records of partition {} of {} became dead letters, offsets {} to {} of {}", count, slot.assignment.partition,
            client::to_string(slot.assignment.topic), result->base_offset, result->next_offset - 1, client::to_string(dead_letters_.name));
}

void SinkWorker::core_failed(RetrySchedule& retry, const Error& error) {
  const plugin::Outcome outcome = to_outcome(error);
  // A newer assignment owns the partition, or the core is going down: nothing that this session does can count any more.
  if (stops_connector(outcome)) return fail_session(outcome, /*restartable=*/false);
  if (partition_is_gone(error)) return fail_session(outcome, /*restartable=*/true);
  retry.failed(now(), random_.next());
  context_.board->update([&](ConnectorStatus& status, StateTracker&, Instant) {
    ++status.retries;
    status.last_error = to_problem(outcome, context_.clock->wall());
  });
  log_.warn("{}", outcome.text);
}

}  // namespace sluice::pipeline
