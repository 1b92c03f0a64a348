// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/vsr/checks.hpp"

#include <algorithm>

namespace sluice::vsr {

void Checks::on_commit(std::uint8_t node, Op commit, const std::vector<StoredEntry>& log) {
  if (commit.value() > log.size()) return fail(fmt::format("replica {} commits op {} of a log of {}", node, commit, log.size()));
  // The newest is enough for what was compared before: the entries are a chain.
  if (commit == Op(0)) return;
  for (std::size_t at = std::min<std::size_t>(committed_.size(), commit.value() - 1); at < commit.value(); ++at) {
    if (at < committed_.size()) {
      if (committed_[at].id != log[at].header.id)
        return fail(fmt::format("agreement: replica {} commits another entry at op {}", node, at + 1));
      continue;
    }
    if (at > 0 && log[at].header.parent != committed_[at - 1].id) return fail(fmt::format("chain: replica {} at op {}", node, at + 1));
    committed_.push_back(log[at].header);
  }
  if (committed_[commit.value() - 1].id != log[commit.value() - 1].header.id) {
    fail(fmt::format("agreement: replica {} commits another entry at op {}", node, commit));
  }
}

void Checks::on_client_answered(OpId entry) {
  if (entry.op > committed() || committed_[entry.op.value() - 1].id != entry.id)
    fail(fmt::format("answered op {} is not committed", entry.op));
}

void Checks::on_truncated(std::uint8_t node, Op to) {
  auto& acked = acked_[node];
  acked.erase(acked.upper_bound(to), acked.end());
}

void Checks::on_sent(std::uint8_t node, const Message& message, const std::vector<StoredEntry>& stable, View record_view,
                     View record_log_view) {
  if (!std::holds_alternative<StartViewChange>(message.body) && message.view > record_view) {
    fail(fmt::format("replica {} speaks of view {} and has {} durable", node, message.view, record_view));
  }
  if (const auto* ok = std::get_if<PrepareOk>(&message.body)) {
    const std::size_t op = ok->entry.op.value();
    if (op > stable.size() || stable[op - 1].header.id != ok->entry.id)
      return fail(fmt::format("replica {} acknowledges op {}, not durable", node, op));
    if (record_log_view < message.view)
      fail(fmt::format("replica {} acknowledges in view {}, log_view {} durable", node, message.view, record_log_view));
    auto& acked = acked_[node];
    for (std::size_t at = op; at > 0 && (acked.find(Op(at)) == acked.end() || acked[Op(at)] != stable[at - 1].header.id); --at) {
      acked[Op(at)] = stable[at - 1].header.id;
    }
  }
  if (const auto* change = std::get_if<DoViewChange>(&message.body)) on_report(node, change->dvc);
}

// Nothing that a replica acknowledged does it deny, in words or by the end of its log.
void Checks::on_report(std::uint8_t node, const Dvc& dvc) {
  for (const auto& [op, id] : acked_[node]) {
    const bool nacked = dvc.covers(op) && dvc.header(op).id == id && dvc.nack[dvc.index_of(op)];
    const bool ended = op > dvc.op && op > dvc.doubtful_to;
    if (nacked || ended) fail(fmt::format("replica {} denies op {}, which it acknowledged", node, op));
  }
}

void Checks::on_step(std::uint8_t node, const Replica& replica) {
  Seen& seen = seen_[node];
  if (replica.view() < seen.view) fail(fmt::format("replica {} goes back from view {} to {}", node, seen.view, replica.view()));
  if (replica.log_view() < seen.log_view)
    fail(fmt::format("replica {} goes back from log_view {} to {}", node, seen.log_view, replica.log_view()));
  if (replica.log_view() > replica.view())
    fail(fmt::format("replica {} has log_view {} in view {}", node, replica.log_view(), replica.view()));
  if (replica.conflicts() != 0) fail(fmt::format("replica {} sees reports that contradict each other", node));
  if (replica.commit() > replica.head().op)
    fail(fmt::format("replica {} has commit {} and head {}", node, replica.commit(), replica.head().op));
  seen = {replica.view(), replica.log_view()};
}

}  // namespace sluice::vsr
