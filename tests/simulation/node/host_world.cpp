// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/node/host_world.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/entry/batch.hpp"
#include "core/node/open_group.hpp"

namespace sluice::sim {

Result<void> HostWorld::open(std::optional<log::Witness> witness) {
  die();
  log::LogOptions options;
  options.directory = "/data/groups/1-1";
  options.group = GroupId{1};
  options.incarnation = Incarnation{1};
  options.segment_bytes = 4096 + 3000;
  options.index_stride_bytes = 600;
  options.hot_bytes = 1000;
  options.witness = witness;
  options.clock = &clock_;
  options.prewrite = std::make_shared<log::PrewriteBudget>();
  options.index_sync = mode_.index_sync;
  if (mode_.unsynced_bytes_max) options.unsynced = std::make_shared<log::UnsyncedBudget>(*mode_.unsynced_bytes_max);
  SLUICE_TRY(node::OpenedPartition opened, node::open_partition(machine_.process(), queue_, std::move(options)));
  report_ = std::move(opened.report);
  recovered_ = opened.state;
  log_ = opened.log.get();
  problem_.clear();
  for (auto& [key, request] : promises_.requests) request.under_way = false;
  if (const auto* source = recovered_.source(kSource); source != nullptr && source->state)
    sequence_ = std::max(sequence_, source->state->sequence);
  node::PartitionHost::Options host_options{.name = "s/a/0",
                                            .topic = {.enforce_fsync = mode_.enforce_fsync, .flush_interval = std::chrono::milliseconds{0}},
                                            .on_fatal = [this](const Error& error) { on_refused(error); },
                                            .on_warning = [this](const Error& error) { on_refused(error); }};
  if (mode_.age.count() > 0) host_options.topic.retention.age = mode_.age;
  host_ = std::make_unique<node::PartitionHost>(std::move(host_options), std::move(opened.log), std::move(opened.state), shard_, clock_);
  return {};
}

void HostWorld::die() {
  host_.reset();
  log_ = nullptr;
  queue_.drop();
}

void HostWorld::run() {
  note_durable();
  while (queue_.run_one()) note_durable();
}

void HostWorld::note_durable() {
  if (log_->fenced()) return;
  if (log_->unsynced_bytes() == 0) promises_.durable = std::max(promises_.durable, promises_.acknowledged_op());
  promises_.checkpoint = std::max(promises_.checkpoint, log_->checkpoint_op());
  promises_.durable = std::max(promises_.durable, promises_.checkpoint);
}

void HostWorld::on_refused(const Error& error) {
  if (problem_.empty()) problem_ = error.to_string();
}

void HostWorld::on_acknowledged(Op op, U128 body, bool durable) {
  promises_.acknowledged[op] = body;
  promises_.states[op] = std::make_shared<const partition::PartitionState>(state());
  promises_.witness = log::Witness{log_->acknowledged().op, log_->acknowledged().id, log_->acknowledged().op};
  if (durable) promises_.durable = std::max(promises_.durable, op);
}

entry::EntryDraft HostWorld::draft_of(const std::string& text, std::uint32_t records, std::optional<Bytes> state) const {
  entry::BatchBuilder builder;
  for (std::uint32_t i = 0; i < records; ++i) {
    RecordView record;
    record.id = U128{i, 1};
    record.payload = as_bytes(text);
    const auto added = builder.add(record);
    SLUICE_ASSERT(added.has_value(), "{}", added.error().to_string());
  }
  return *std::move(builder).finish(state);
}

std::string HostWorld::next_text(std::size_t bytes) {
  const std::uint64_t number = ++promises_.records;
  std::string text = fmt::format("record {} ", number);
  text.resize(std::max(text.size(), bytes), static_cast<char>('a' + number % 26));
  return text;
}

void HostWorld::send(node::AppendRequest request, std::function<void(const node::Proposed&)> then) {
  const U128 body = request.draft.header().body_checksum;
  noting(body, [&] {
    host_->append(std::move(request), [this, body, then = std::move(then)](Result<node::Proposed> outcome) {
      if (!outcome) return on_refused(outcome.error());
      if (then) then(*outcome);
      // The answer to a repetition tells nothing new.
      if (state().last_op() != outcome->op || promises_.acknowledged.contains(outcome->op)) return;
      promises_.given_out[outcome->base_offset] = {body, outcome->next_offset};
      on_acknowledged(outcome->op, body, mode_.enforce_fsync);
    });
  });
}

void HostWorld::append(std::uint32_t records, std::size_t bytes) {
  send({.draft = draft_of(next_text(bytes), records)});
}

void HostWorld::begin_consumer() {
  if (!ended()) propose(partition::BeginAssignment{kConsumer, state().floor_offset()});
}

// None if the source was not begun: then it begins.
std::optional<partition::StateEnvelope> HostWorld::next_envelope() {
  if (ended()) return std::nullopt;
  const partition::SourcePosition* const source = state().source(kSource);
  if (source == nullptr) {
    begin_source();
    return std::nullopt;
  }
  const std::uint64_t sequence = ++sequence_;
  partition::SourceState next{.connector = kSource, .state_version = 1, .writer_version = "1.0", .sequence = sequence};
  next.accounting.delivered = sequence * 3;
  next.in = sequence * 4;
  next.bytes = ByteVector(40, static_cast<std::byte>(sequence));
  return partition::StateEnvelope{source->epoch, std::move(next)};
}

void HostWorld::append_with_state(std::size_t bytes) {
  const auto envelope = next_envelope();
  if (!envelope) return;
  const ByteVector section = partition::encode_envelope(*envelope);
  send({.draft = draft_of(next_text(bytes), 2, section), .source = node::SourceClaim{kSource, envelope->epoch, envelope->state.sequence}});
}

void HostWorld::store_state() {
  if (const auto envelope = next_envelope()) propose(*envelope);
}

void HostWorld::propose(const partition::PartitionOp& op) {
  const U128 body = entry::EntryDraft::operation(entry::EntryKind::kPartitionOp, encode(op))->header().body_checksum;
  noting(body, [&] {
    host_->propose(op, [this, body](Result<node::PartitionView> outcome) {
      if (!outcome) return on_refused(outcome.error());
      on_acknowledged(outcome->state->last_op(), body, mode_.enforce_fsync);
    });
  });
}

void HostWorld::commit_offsets() {
  if (ended()) return;
  const partition::GroupPosition* const consumer = state().consumer(kConsumer);
  if (consumer == nullptr) return begin_consumer();
  partition::Accounting accounting = consumer->accounting;
  const std::uint64_t more = state().next_offset() - consumer->committed_next;
  accounting.filtered += more / 3;
  accounting.dead_lettered += more / 4;
  accounting.delivered += more - more / 3 - more / 4;
  propose(partition::CommitOffset{kConsumer, consumer->epoch, state().next_offset(), accounting});
}

void HostWorld::purge() {
  const Offset floor = log_->head().next_offset;
  const U128 body = entry::EntryDraft::operation(entry::EntryKind::kPartitionOp, encode(partition::PartitionOp(partition::Trim{floor})))
                        ->header()
                        .body_checksum;
  noting(body, [&] {
    host_->purge([this, body, floor](Result<node::PartitionView> outcome) {
      if (!outcome) return on_refused(outcome.error());
      promises_.floor = std::max(promises_.floor, floor);
      on_acknowledged(outcome->state->last_op(), body, true);
    });
  });
}

void HostWorld::close() {
  host_->close([this](Result<void> outcome) {
    if (!outcome) return on_refused(outcome.error());
    promises_.closed = true;
    promises_.durable = std::max(promises_.durable, promises_.acknowledged_op());
  });
}

void HostWorld::send(HostPromises::RequestKey key) {
  HostPromises::Request& request = promises_.requests.at(key);
  request.under_way = true;
  node::AppendRequest append{.draft = draft_of(request.text)};
  append.draft.set_request(key.first, key.second);
  send(std::move(append), [this, key](const node::Proposed& outcome) { promises_.requests.at(key).outcome = outcome; });
}

void HostWorld::request(ClientId client, std::size_t bytes) {
  RequestNumber next{1};
  for (auto& [key, request] : promises_.requests) {
    if (key.first != client) continue;
    next = key.second.next();
    if (!request.outcome && !request.under_way) send(key);
  }
  promises_.requests[{client, next}] = {next_text(bytes), {}, false};
  send({client, next});
}

std::string HostWorld::repeat_requests() {
  for (auto& [key, request] : promises_.requests) {
    const Op head = log_->head().op;
    const std::optional<node::Proposed> before = std::exchange(request.outcome, std::nullopt);
    send(key);
    run();
    const std::string name = fmt::format("request {} of client {}", key.second, to_hex(key.first));
    if (!problem_.empty()) return fmt::format("{} is refused: {}", name, problem_);
    if (!request.outcome) return fmt::format("{} gets no answer", name);
    // Its first answer may have been lost with its entry. Nothing else may be.
    const bool is_there = request.outcome->op <= head;
    if (is_there && log_->head().op != head) return fmt::format("{} was carried out twice", name);
    if (is_there && before && (before->op != request.outcome->op || before->base_offset != request.outcome->base_offset))
      return fmt::format("{} was op {}, and is op {} when it is repeated", name, before->op, request.outcome->op);
  }
  return "";
}

}  // namespace sluice::sim
