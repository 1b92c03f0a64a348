// SPDX-License-Identifier: Apache-2.0
#include "core/partition/partition_state.hpp"

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/mutation.hpp"
#include "core/partition/errc.hpp"

namespace sluice::partition {
namespace {

Result<void> check_member_name(std::string_view what, std::string_view name) {
  if (name.empty() || name.size() > kMemberNameMax) {
    return fail(Errc::kInvalidName, fmt::format("a {} name has {} bytes, 1 to {} are allowed", what, name.size(), kMemberNameMax));
  }
  return {};
}

// The sum of the buckets, or nothing if it does not fit: such counts explain nothing.
std::optional<std::uint64_t> checked_sum(const Accounting& accounting) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count :
       {accounting.delivered, accounting.filtered, accounting.skipped, accounting.dead_lettered, accounting.expired, accounting.gap}) {
    if (__builtin_add_overflow(sum, count, &sum)) return std::nullopt;
  }
  return sum;
}

bool any_bucket_shrinks(const Accounting& from, const Accounting& to) {
  return to.delivered < from.delivered || to.filtered < from.filtered || to.skipped < from.skipped ||
         to.dead_lettered < from.dead_lettered || to.expired < from.expired || to.gap < from.gap;
}

}  // namespace

const GroupPosition* PartitionState::consumer(std::string_view group) const {
  const auto found = consumers_.find(group);
  return found == consumers_.end() ? nullptr : &found->second;
}

const SourcePosition* PartitionState::source(std::string_view connector) const {
  const auto found = sources_.find(connector);
  return found == sources_.end() ? nullptr : &found->second;
}

Result<void> PartitionState::check_commit(const CommitOffset& commit) const {
  const GroupPosition* position = consumer(commit.group);
  if (position == nullptr) return fail(Errc::kUnknownGroup, fmt::format("consumer group '{}' has no assignment here", commit.group));
  if (commit.epoch != position->epoch) {
    return fail(Errc::kFenced, fmt::format("consumer group '{}': a commit of epoch {}, the assignment has epoch {}", commit.group,
                                           commit.epoch, position->epoch));
  }
  if (commit.committed_next < position->committed_next) {
    return fail(Errc::kCommitBackwards, fmt::format("consumer group '{}': a commit of {}, {} is committed already", commit.group,
                                                    commit.committed_next, position->committed_next));
  }
  if (commit.committed_next > next_offset_) {
    return fail(Errc::kBeyondEnd, fmt::format("consumer group '{}': a commit of {}, the partition ends at {}", commit.group,
                                              commit.committed_next, next_offset_));
  }
  const std::uint64_t covered = commit.committed_next - position->start_offset;
  const auto sum = checked_sum(commit.accounting);
  if (sum != covered) {
    return fail(Errc::kAccountingMismatch,
                fmt::format("consumer group '{}': the accounting explains {} records, but offsets {} to {} are {}", commit.group,
                            sum ? std::to_string(*sum) : "too many", position->start_offset, commit.committed_next, covered));
  }
  if (any_bucket_shrinks(position->accounting, commit.accounting)) {
    return fail(Errc::kCommitBackwards,
                fmt::format("consumer group '{}': a count of the accounting is smaller than the committed one", commit.group));
  }
  return {};
}

Result<void> PartitionState::check(const PartitionOp& op) const {
  if (const auto* begin = std::get_if<BeginAssignment>(&op)) {
    SLUICE_CHECK(check_member_name("consumer group", begin->group));
    if (consumer(begin->group) != nullptr) return {};
    if (begin->start > next_offset_) {
      return fail(Errc::kBeyondEnd,
                  fmt::format("consumer group '{}' would start at {}, the partition ends at {}", begin->group, begin->start, next_offset_));
    }
    if (consumers_.size() >= kConsumersMax)
      return fail(Errc::kLimit, fmt::format("this partition has {} consumer groups, no more are allowed", kConsumersMax));
    return {};
  }
  if (const auto* commit = std::get_if<CommitOffset>(&op)) return check_commit(*commit);
  if (const auto* begin = std::get_if<BeginSource>(&op)) {
    SLUICE_CHECK(check_member_name("source", begin->connector));
    if (source(begin->connector) == nullptr && sources_.size() >= kSourcesMax) {
      return fail(Errc::kLimit, fmt::format("this partition has {} sources, no more are allowed", kSourcesMax));
    }
    return {};
  }
  if (const auto* envelope = std::get_if<StateEnvelope>(&op)) return check_state(*envelope);
  const Offset floor = std::get<Trim>(op).floor;
  if (floor < floor_offset_ && !SLUICE_MUTATED(kTrimGoesBack))
    return fail(Errc::kTrimBackwards, fmt::format("a trim to {}, everything below {} is trimmed already", floor, floor_offset_));
  if (floor > next_offset_ && !SLUICE_MUTATED(kTrimBeyondEnd))
    return fail(Errc::kBeyondEnd, fmt::format("a trim to {}, the partition ends at {}", floor, next_offset_));
  return {};
}

Result<void> PartitionState::check_state(const StateEnvelope& envelope) const {
  const std::string& connector = envelope.state.connector;
  const SourcePosition* position = source(connector);
  if (position == nullptr) return fail(Errc::kUnknownSource, fmt::format("source '{}' was not begun here", connector));
  if (envelope.epoch != position->epoch) {
    return fail(Errc::kFenced,
                fmt::format("source '{}': a state of epoch {}, the assignment has epoch {}", connector, envelope.epoch, position->epoch));
  }
  if (position->state && envelope.state.sequence <= position->state->sequence) {
    return fail(Errc::kStateSequence, fmt::format("source '{}': a state of sequence {}, the stored one has {}", connector,
                                                  envelope.state.sequence, position->state->sequence));
  }
  return {};
}

Result<void> PartitionState::apply(const entry::EntryView& entry) {
  const entry::EntryHeader& header = entry.header();
  SLUICE_ASSERT(header.op > last_op_, "op {} last {}", header.op, last_op_);
  last_op_ = header.op;
  last_identity_ = header.identity;
  last_timestamp_ = header.base_timestamp;
  next_offset_ = header.next_offset;
  Result<void> outcome = apply_body(entry);
  if (header.has(entry::flag::kHasClient)) {
    std::optional<RequestOutcome> result;
    if (outcome) result = RequestOutcome{header.request, header.body_checksum, header.op, header.base_offset, header.next_offset};
    clients_.record(header.client, header.request, header.op, result);
  }
  return outcome;
}

Result<void> PartitionState::apply_body(const entry::EntryView& entry) {
  const entry::EntryHeader& header = entry.header();
  switch (header.kind) {
    case entry::EntryKind::kMessages: {
      const Bytes section = entry.body().subspan(header.messages_bytes);
      if (section.empty()) return {};
      SLUICE_TRY(StateEnvelope envelope, decode_envelope(section));
      return store_state(std::move(envelope));
    }
    case entry::EntryKind::kPartitionOp: {
      SLUICE_TRY(const PartitionOp op, decode_op(entry.body()));
      return apply_op(op);
    }
    case entry::EntryKind::kGap:
      return {};
    case entry::EntryKind::kCatalogCommand:
      break;
  }
  return fail(Errc::kMalformed, fmt::format("op {}: an entry of kind '{}' has no place in a partition", header.op, to_string(header.kind)));
}

Result<void> PartitionState::store_state(StateEnvelope envelope) {
  SLUICE_CHECK(check_state(envelope));
  sources_.find(envelope.state.connector)->second.state = std::move(envelope.state);
  return {};
}

Result<void> PartitionState::apply_op(const PartitionOp& op) {
  SLUICE_CHECK(check(op));
  if (const auto* begin = std::get_if<BeginAssignment>(&op)) {
    const auto [position, added] = consumers_.try_emplace(begin->group);
    if (added) position->second = {.start_offset = begin->start, .committed_next = begin->start};
    position->second.epoch = position->second.epoch.next();
  } else if (const auto* commit = std::get_if<CommitOffset>(&op)) {
    GroupPosition& position = consumers_.find(commit->group)->second;
    position.committed_next = commit->committed_next;
    position.accounting = commit->accounting;
  } else if (const auto* source_begin = std::get_if<BeginSource>(&op)) {
    SourcePosition& position = sources_[source_begin->connector];
    position.epoch = position.epoch.next();
  } else if (const auto* envelope = std::get_if<StateEnvelope>(&op)) {
    return store_state(*envelope);
  } else {
    floor_offset_ = std::get<Trim>(op).floor;
  }
  return {};
}

}  // namespace sluice::partition
