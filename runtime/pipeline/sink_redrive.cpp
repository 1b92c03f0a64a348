// SPDX-License-Identifier: Apache-2.0
// Dead letters given to their connector again: one more partition, with an end.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/pipeline/failure.hpp"
#include "runtime/pipeline/sink_worker.hpp"
#include "runtime/pipeline/supervisor.hpp"

namespace sluice::pipeline {

std::future<Result<std::uint64_t>> SinkWorker::redrive(std::optional<Offset> only) {
  std::promise<Result<std::uint64_t>> promise;
  auto answer = promise.get_future();
  inbox_->post([this, only, promise = std::move(promise)]() mutable { promise.set_value(begin_redrive(only)); });
  return answer;
}

Result<void> SinkWorker::check_redrivable(client::PartitionRef partition, Offset offset) {
  SLUICE_TRY(const auto found, context_.client->read(partition, {.from = offset, .records_max = 1}));
  if (found.records.empty() || found.records.front().offset != offset) {
    return fail(sluice::Errc::kNotFound, fmt::format("{} has no record at offset {}", client::to_string(dead_letters_.name), offset));
  }
  const auto letter = decode_dead_letter(found.records.front().record);
  if (!letter) return fail(Errc::kNotRedrivable, letter.error().message());
  if (!letter->cuts.empty())
    return fail(Errc::kNotRedrivable, fmt::format("the dead letter at offset {} was cut and is not the whole record", offset));
  return {};
}

Result<std::uint64_t> SinkWorker::begin_redrive(std::optional<Offset> only) {
  if (slots_.empty() || stopping() || ending_ || paused()) return fail(Errc::kBusy, fmt::format("{} does not run", config().key));
  if (slots_.back()->limit) return fail(Errc::kBusy, fmt::format("dead letters of {} are being redriven already", config().key));
  SLUICE_TRY(const auto topic, context_.client->describe_topic(dead_letters_.name));
  const client::PartitionInfo& partition = topic.partitions.front();
  if (partition.refused) return fail(*partition.refused);
  if (only) SLUICE_CHECK(check_redrivable(partition.ref, *only));

  SLUICE_TRY(const auto position, context_.client->begin_assignment(partition.ref, config().key, partition.first_offset));
  const bool positioned = !only || *only == position.committed_next;
  if (!positioned && descriptor_.own_positions) {
    return fail(Errc::kNotRedrivable,
                fmt::format("the sink {} keeps positions of its own and takes dead letters only in order, the next is {}", descriptor_.id,
                            position.committed_next));
  }
  const Offset limit = only ? only->next() : partition.next_offset;
  if (position.committed_next >= limit && positioned) return 0;

  // One out of order begins and ends at itself, whatever the redrives' own position is.
  client::GroupPosition from = position;
  if (!positioned) from = {position.epoch, *only, *only, {}};
  plugin::Assignment part{partition.ref, topic.name, partition.index, topic.incarnation, position.epoch, from.committed_next};
  const auto resume_next = call([&] { return instance_->assign(std::span(&part, 1), call_options()); });
  if (!resume_next) return fail(Errc::kBusy, resume_next.error().text);
  if (const auto failure = judge_position(part, resume_next->front(), from, partition.next_offset)) {
    revoke_dead_letters(part.ref);
    return fail(Errc::kNotRedrivable, failure->text);
  }
  add_slot(part, from, positioned ? std::max(resume_next->front(), from.committed_next) : *only, partition.next_offset);
  slots_.back()->limit = limit;
  slots_.back()->positioned = positioned;
  // What retention has removed meanwhile is not there to be given.
  const Offset first = std::clamp(partition.first_offset, from.committed_next, limit);
  log_.info("redriving dead letters from offset {} to {}", first, limit - 1);
  return limit - first;
}

void SinkWorker::revoke_dead_letters(client::PartitionRef ref) {
  const auto revoked = call([&] { return instance_->revoke(std::span(&ref, 1), call_options()); });
  if (!revoked) log_.warn("revoke of the dead letter partition failed: {}", revoked.error().text);
}

client::ReadResult SinkWorker::unwrap_dead_letters(SinkSlot& slot, client::ReadResult result) {
  // What cannot be redriven stays where it is; here it is a hole, which counts as skipped.
  std::vector<client::LogRecord> kept;
  kept.reserve(result.records.size());
  result.next = std::min(result.next, *slot.limit);
  result.gap_offsets = result.next - slot.lane.read_next();
  for (client::LogRecord& stored : result.records) {
    if (stored.offset >= *slot.limit) break;
    auto letter = decode_dead_letter(stored.record);
    if (!letter || !letter->cuts.empty()) {
      log_.warn("the dead letter at offset {} is not redriven: {}", stored.offset, letter ? "it was cut" : letter.error().message());
      continue;
    }
    slot.origins.insert_or_assign(stored.offset, std::move(letter->reason));
    stored.record = letter->record;
    kept.push_back(stored);
    --result.gap_offsets;
  }
  result.records = std::move(kept);
  return result;
}

void SinkWorker::end_redrive_if_done() {
  if (slots_.empty() || !slots_.back()->limit) return;
  SinkSlot& slot = *slots_.back();
  if (slot.reading || slot.burying || slot.lane.commit_in_flight() || slot.lane.read_next() < *slot.limit) return;
  const PartitionProgress& progress = slot.lane.progress();
  const bool done = slot.positioned ? progress.drained() : progress.count(Fate::kPending) + progress.count(Fate::kAccepted) == 0;
  if (!done) return;
  revoke_dead_letters(slot.assignment.ref);
  log_.info("redrive done");
  context_.board->update([&](ConnectorStatus& status, StateTracker&, Instant) { status.partitions.pop_back(); });
  slots_.pop_back();
  next_slot_ = 0;
}

}  // namespace sluice::pipeline
