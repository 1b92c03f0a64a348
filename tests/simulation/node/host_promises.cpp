// SPDX-License-Identifier: Apache-2.0
// What a start of a HostWorld is held to.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/node/errc.hpp"
#include "core/node/group_host.hpp"
#include "tests/simulation/node/host_world.hpp"

namespace sluice::sim {

// One entry that is there.
// The one op that a partition sends by itself.
bool HostWorld::is_trim_by_age(const entry::EntryView& view) const {
  if (mode_.age.count() == 0 || view.header().kind != entry::EntryKind::kPartitionOp) return false;
  const auto op = partition::decode_op(view.body());
  return op && std::holds_alternative<partition::Trim>(*op);
}

std::string HostWorld::check_entry(const entry::EntryView& view, bool power_was_lost) const {
  const entry::EntryHeader& header = view.header();
  const auto acknowledged = promises_.acknowledged.find(header.op);
  const bool promised = acknowledged != promises_.acknowledged.end() && !(power_was_lost && header.op > promises_.durable);
  if (promised && acknowledged->second != header.body_checksum) return fmt::format("op {} was acknowledged with other bytes", header.op);
  if (header.kind != entry::EntryKind::kGap) {
    const auto sent = promises_.sent.find(header.op);
    const bool was_sent = sent != promises_.sent.end() && sent->second.contains(header.body_checksum);
    if (!was_sent && !is_trim_by_age(view)) return fmt::format("op {} is nobody's", header.op);
  }
  if (header.message_count == 0) return "";
  auto given = promises_.given_out.lower_bound(header.next_offset);
  if (given == promises_.given_out.begin()) return "";
  --given;  // the last one that begins before this one ends
  if (given->second.next <= header.base_offset) return "";
  if (given->first == header.base_offset && given->second.next == header.next_offset && given->second.body == header.body_checksum)
    return "";
  return fmt::format("offset {} was given out with other bytes", std::max(given->first, header.base_offset));
}

std::string HostWorld::broken_promise(bool power_was_lost) {
  const Op head = recovered_.last_op();
  const Op promised = power_was_lost ? std::min(promises_.durable, promises_.acknowledged_op()) : promises_.acknowledged_op();
  if (head < promised) return fmt::format("op {} was acknowledged and is gone; the log ends at op {}", promised, head);
  if (log_->checkpoint_op() < promises_.checkpoint)
    return fmt::format("the checkpoint is at op {}, not at {}", log_->checkpoint_op(), promises_.checkpoint);
  if (recovered_.floor_offset() < promises_.floor)
    return fmt::format("what was purged up to {} is back from {} on", promises_.floor, recovered_.floor_offset());
  if (log_->first_offset() > recovered_.floor_offset())
    return fmt::format("the log begins at offset {}, and may be trimmed up to {}", log_->first_offset(), recovered_.floor_offset());
  if (promises_.closed && !report_.clean) return "the last life was closed, and is said to have crashed";

  // The newest state that somebody was told of, and what the log holds behind it: the same as from the checkpoint on.
  partition::PartitionState expected;
  const auto known = promises_.states.upper_bound(head);
  if (known != promises_.states.begin()) expected = *std::prev(known)->second;
  if (expected.last_op().next() < log_->first_op())
    return fmt::format("the log begins at op {}, and nobody was told of one before it but op {}", log_->first_op(), expected.last_op());
  std::map<HostPromises::RequestKey, Op> carried_out;
  Op next = log_->first_op();
  const auto replayed = log_->replay(log_->first_op(), [&](const entry::EntryView& view) -> Result<void> {
    const entry::EntryHeader& header = view.header();
    if (header.op != next) return fail(sluice::Errc::kInternal, fmt::format("op {} is missing", next));
    next = next.next();
    if (std::string wrong = check_entry(view, power_was_lost); !wrong.empty()) return fail(sluice::Errc::kInternal, std::move(wrong));
    if (header.has(entry::flag::kHasClient) && !carried_out.emplace(std::pair(header.client, header.request), header.op).second)
      return fail(sluice::Errc::kInternal, fmt::format("op {} is a request that was carried out before", header.op));
    if (header.op <= expected.last_op()) return {};
    if (auto applied = expected.apply(view); !applied && !node::is_op_outcome(applied.error())) return applied;
    return {};
  });
  if (!replayed) return replayed.error().to_string();
  if (next != head.next()) return fmt::format("the log ends at op {}, its state is that of op {}", next - 1, head);
  return check_state(expected);
}

std::string HostWorld::check_state(const partition::PartitionState& expected) const {
  if (recovered_.consumers() != expected.consumers()) return "a consumer's offset or accounting is not what it was";
  if (recovered_.sources() != expected.sources()) return "a source's state is not what it was";
  if (recovered_.clients() != expected.clients()) return "the client table is not what it was";
  for (const auto& [group, position] : recovered_.consumers()) {
    if (position.accounting.sum() != position.committed_next - position.start_offset)
      return fmt::format("the accounting of {} explains {} records of {}", group, position.accounting.sum(),
                         position.committed_next - position.start_offset);
  }
  return recovered_ == expected ? "" : "the state is not what it was";
}

void HostWorld::promise_what_is_there() {
  promises_.acknowledged.clear();
  promises_.states.clear();
  const auto replayed = log_->replay(log_->first_op(), [&](const entry::EntryView& view) -> Result<void> {
    promises_.acknowledged[view.header().op] = view.header().body_checksum;
    promises_.sent[view.header().op].insert(view.header().body_checksum);
    return {};
  });
  SLUICE_ASSERT(replayed.has_value(), "{}", replayed.error().to_string());
  promises_.durable = recovered_.last_op();
  promises_.states[recovered_.last_op()] = std::make_shared<const partition::PartitionState>(recovered_);
  promises_.closed = false;
}

void HostWorld::read(Offset from) {
  if (mode_.age.count() > 0) from = std::max(from, host_->inspect()->first_offset);
  host_->read({.from = from, .bytes_max = 1500}, [this, from](Result<node::ReadOutcome> outcome) {
    const bool expired = mode_.age.count() > 0 && !outcome && outcome.error().is(node::Errc::kOutOfRange);
    if (expired && from < host_->inspect()->first_offset) return;
    if (!outcome) return on_refused(outcome.error());
    Offset next = from;
    for (const entry::SharedEntry& shared : outcome->entries) {
      const entry::EntryHeader& header = shared.header();
      const bool continues = header.base_offset == next || (next == from && header.base_offset < next && header.next_offset > next);
      if (!continues)
        on_refused(Error(sluice::Errc::kInternal, fmt::format("a read skips from offset {} to {}", next, header.base_offset)));
      next = header.next_offset;
      if (header.kind == entry::EntryKind::kGap) continue;
      const auto acknowledged = promises_.acknowledged.find(header.op);
      if (acknowledged == promises_.acknowledged.end() || acknowledged->second != header.body_checksum)
        on_refused(Error(sluice::Errc::kInternal, fmt::format("a read gets op {}, which nobody has acknowledged so", header.op)));
    }
    read_to_ = next;
  });
}

std::string HostWorld::read_all() {
  const Offset begin = host_->inspect()->first_offset;
  if (begin.value() > 0) {
    std::string code;
    host_->read({.from = Offset{0}}, [&](const Result<node::ReadOutcome>& outcome) { code = outcome ? "read" : outcome.error().code(); });
    run();
    if (code != "node.out_of_range") return fmt::format("a read below the floor, which is {}: {}", begin, code);
  }
  for (Offset at = begin; at < state().next_offset(); at = read_to_) {
    read(at);
    run();
    if (problem_.empty() && read_to_ <= at) return fmt::format("a read at offset {} of {} is empty", at, state().next_offset());
    if (!problem_.empty()) return problem_;
  }
  return "";
}

}  // namespace sluice::sim
