// SPDX-License-Identifier: Apache-2.0
#include "core/client/client.hpp"

#include <utility>

#include "core/client/answer.hpp"
#include "core/client/client_impl.hpp"
#include "core/client/read_result.hpp"
#include "core/node/node.hpp"

namespace sluice::client {

Client::Client(node::Node& node) : impl_(std::make_unique<Impl>(node)) {}
Client::~Client() = default;

void Client::append(PartitionRef partition, AppendBatch batch, Completion<AppendResult> done) {
  if (batch.count() == 0 && batch.state_ && !batch.request_) {
    impl_->node.propose(partition.group, *std::move(batch.state_), [done = std::move(done)](Result<node::PartitionView> outcome) mutable {
      if (!outcome) return done(fail(std::move(outcome).error()));
      done(AppendResult{outcome->state->next_offset(), outcome->state->next_offset()});
    });
    return;
  }
  std::optional<ByteVector> section;
  std::optional<node::SourceClaim> claim;
  if (batch.state_) {
    section = partition::encode_envelope(*batch.state_);
    claim = node::SourceClaim{std::move(batch.state_->state.connector), batch.state_->epoch, batch.state_->state.sequence};
  }
  auto draft = std::move(batch.builder_).finish(section ? std::optional<Bytes>(*section) : std::nullopt);
  if (!draft) return done(fail(std::move(draft).error()));
  if (batch.request_) draft->set_request(batch.request_->client, batch.request_->number);
  impl_->node.append(partition.group, {*std::move(draft), std::move(claim)},
                     [done = std::move(done)](Result<node::Proposed> outcome) mutable {
                       if (!outcome) return done(fail(std::move(outcome).error()));
                       done(AppendResult{outcome->base_offset, outcome->next_offset});
                     });
}

Result<AppendResult> Client::append(PartitionRef partition, AppendBatch batch) {
  return Answer<AppendResult>::wait(kOperationDeadline, [&](auto done) { append(partition, std::move(batch), std::move(done)); });
}

void Client::read(PartitionRef partition, const ReadRequest& request, Completion<UndecodedRead> done) {
  impl_->node.read(partition.group, {request.from, request.bytes_max, request.wait_max},
                   [request, done = std::move(done)](Result<node::ReadOutcome> outcome) mutable {
                     if (!outcome) return done(fail(std::move(outcome).error()));
                     done([request, found = *std::move(outcome)]() mutable { return to_read_result(request, std::move(found)); });
                   });
}

Result<ReadResult> Client::read(PartitionRef partition, const ReadRequest& request) {
  SLUICE_TRY(UndecodedRead found, Answer<UndecodedRead>::wait(request.wait_max + kOperationDeadline,
                                                              [&](auto done) { read(partition, request, std::move(done)); }));
  return found();
}

Result<Offset> Client::offset_for_time(PartitionRef partition, TimestampUs at) {
  return Answer<Offset>::wait(kOperationDeadline, [&](auto done) { impl_->node.offset_for_time(partition.group, at, std::move(done)); });
}

Result<GroupPosition> Client::begin_assignment(PartitionRef partition, const std::string& group, Offset start) {
  return Answer<GroupPosition>::wait(kOperationDeadline, [&](auto done) {
    impl_->node.propose(partition.group, partition::BeginAssignment{group, start},
                        [group, done = std::move(done)](Result<node::PartitionView> outcome) mutable {
                          if (!outcome) return done(fail(std::move(outcome).error()));
                          done(*outcome->state->consumer(group));
                        });
  });
}

Result<std::optional<GroupPosition>> Client::position(PartitionRef partition, const std::string& group) {
  return Answer<std::optional<GroupPosition>>::wait(kOperationDeadline, [&](auto done) {
    impl_->node.inspect(partition.group, [group, done = std::move(done)](Result<node::PartitionView> outcome) mutable {
      if (!outcome) return done(fail(std::move(outcome).error()));
      const GroupPosition* position = outcome->state->consumer(group);
      done(position == nullptr ? std::nullopt : std::optional(*position));
    });
  });
}

void Client::commit(PartitionRef partition, const std::string& group, Epoch epoch, Offset committed_next, const Accounting& accounting,
                    Completion<void> done) {
  impl_->node.propose(partition.group, partition::CommitOffset{group, epoch, committed_next, accounting},
                      [done = std::move(done)](Result<node::PartitionView> outcome) mutable {
                        if (!outcome) return done(fail(std::move(outcome).error()));
                        done({});
                      });
}

Result<void> Client::commit(PartitionRef partition, const std::string& group, Epoch epoch, Offset committed_next,
                            const Accounting& accounting) {
  return Answer<void>::wait(kOperationDeadline,
                            [&](auto done) { commit(partition, group, epoch, committed_next, accounting, std::move(done)); });
}

Result<SourcePosition> Client::begin_source(PartitionRef partition, const std::string& connector) {
  return Answer<SourcePosition>::wait(kOperationDeadline, [&](auto done) {
    impl_->node.propose(partition.group, partition::BeginSource{connector},
                        [connector, done = std::move(done)](Result<node::PartitionView> outcome) mutable {
                          if (!outcome) return done(fail(std::move(outcome).error()));
                          done(*outcome->state->source(connector));
                        });
  });
}

Result<std::optional<SourceState>> Client::source_state(PartitionRef partition, const std::string& connector) {
  return Answer<std::optional<SourceState>>::wait(kOperationDeadline, [&](auto done) {
    impl_->node.inspect(partition.group, [connector, done = std::move(done)](Result<node::PartitionView> outcome) mutable {
      if (!outcome) return done(fail(std::move(outcome).error()));
      const SourcePosition* position = outcome->state->source(connector);
      done(position == nullptr ? std::nullopt : position->state);
    });
  });
}

void Client::after(PartitionRef partition, std::chrono::nanoseconds delay, std::move_only_function<void()> task) {
  impl_->node.after(partition.group, delay, std::move(task));
}

bool Client::is_there(PartitionRef partition) const {
  return impl_->node.has_partition(partition.group);
}

StorageRoom Client::storage_room() const {
  const node::DiskRoom& room = impl_->node.room();
  return {.free_bytes = room.space().free,
          .takes_messages = room.level() == node::RoomLevel::kEnough,
          .takes_operations = room.level() != node::RoomLevel::kFull};
}

std::uint64_t Client::log_warnings() const {
  return impl_->node.warnings();
}

}  // namespace sluice::client
