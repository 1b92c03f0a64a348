// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/vsr/checks.hpp"

#include <algorithm>
#include <functional>

namespace sluice::vsr {

void Checks::on_commit(std::uint8_t node, Op commit, const std::vector<StoredEntry>& log) {
  if (commit == Op(0)) return;
  if (commit.value() > log.size()) return fail(fmt::format("commit: replica {} commits op {} of a log of {}", node, commit, log.size()));
  if (commit > committed()) return fail(fmt::format("commit: replica {} commits op {}, which no quorum has durable", node, commit));
  // The newest is enough: the entries are a chain.
  if (!is_committed(log[commit.value() - 1].header.op_id()))
    fail(fmt::format("agreement: replica {} commits another entry at op {}", node, commit));
}

void Checks::vote(std::uint8_t node, View view, const std::vector<StoredEntry>& stable, Op op) {
  auto& votes = votes_[view];
  votes.at(node) = std::max(votes.at(node), op);
  auto sorted = votes;
  const auto end = sorted.begin() + quorums_.count();
  std::sort(sorted.begin(), end, std::greater<>());
  // Each of the quorum has it, so the voter of the moment has it, or has voted for more.
  commit_to(std::min(sorted[quorums_.replication() - 1U], op), stable);
}

void Checks::commit_to(Op commit, const std::vector<StoredEntry>& log) {
  if (commit > Op(0) && commit <= committed() && !is_committed(log[commit.value() - 1].header.op_id()))
    return fail(fmt::format("agreement: a quorum has two entries durable at op {}", commit));
  while (committed() < commit) {
    const Header& header = log[committed_.size()].header;
    if (!committed_.empty() && header.parent != committed_.back().id) return fail(fmt::format("chain: op {}", header.op));
    committed_.push_back(header);
  }
}

void Checks::on_client_answered(OpId entry) {
  if (!is_committed(entry)) fail(fmt::format("answer: op {} is answered and not committed", entry.op));
}

void Checks::on_known(const Header& header) {
  const auto [at, fresh] = known_.try_emplace({header.op, header.view}, header.id);
  if (!fresh && at->second != header.id) fail(fmt::format("one primary: two entries of op {} in view {}", header.op, header.view));
}

void Checks::give_up(std::uint8_t node, Op to) {
  auto& acked = acked_.at(node);
  for (auto at = acked.upper_bound(to); at != acked.end(); at = acked.erase(at)) {
    if (is_committed({at->first, at->second}))
      fail(fmt::format("truncation: replica {} gives up op {}, which is committed", node, at->first));
  }
}

void Checks::on_truncated(std::uint8_t node, Op to, const std::vector<StoredEntry>& log) {
  for (std::size_t at = to.value(); at < log.size(); ++at) {
    if (is_committed(log[at].header.op_id()))
      return fail(fmt::format("truncation: replica {} cuts op {}, which is committed", node, at + 1));
  }
  give_up(node, to);
}

void Checks::on_restart(std::uint8_t node, const StoredRecord* record, const Replica& replica, bool lost) {
  fenced_.at(node) = false;
  if (record == nullptr) {
    seen_.at(node) = {replica.view(), replica.log_view(), Op(0)};
    return;
  }
  seen_.at(node) = {record->view, record->log_view, std::min(record->commit, replica.head().op)};
  // The certificate names the log that the replica comes back with.
  if (!lost && replica.log_view() == record->log_view && replica.head().op < record->head())
    fail(
        fmt::format("certificate: replica {} comes back with head {}, and its record knew op {}", node, replica.head().op, record->head()));
}

void Checks::on_sent(std::uint8_t node, const Message& message, const std::vector<StoredEntry>& stable, const StoredRecord& record) {
  if (fenced_.at(node)) fail(fmt::format("fenced: replica {} speaks", node));
  if (!std::holds_alternative<StartViewChange>(message.body) && message.view > record.view) {
    fail(fmt::format("record: replica {} speaks of view {} and has {} durable", node, message.view, record.view));
  }
  if (const auto* prepare = std::get_if<Prepare>(&message.body)) on_known(prepare->header);
  if (const auto* ok = std::get_if<PrepareOk>(&message.body)) on_prepare_ok(node, message.view, ok->entry, stable, record);
  if (const auto* change = std::get_if<DoViewChange>(&message.body)) on_report(node, change->dvc);
}

void Checks::on_prepare_ok(std::uint8_t node, View view, OpId entry, const std::vector<StoredEntry>& stable, const StoredRecord& record) {
  const std::size_t op = entry.op.value();
  if (op > stable.size() || stable[op - 1].header.id != entry.id)
    return fail(fmt::format("prepare_ok: replica {} acknowledges op {}, not durable", node, op));
  if (record.log_view < view)
    return fail(fmt::format("prepare_ok: replica {} acknowledges in view {}, log_view {} durable", node, view, record.log_view));
  auto& acked = acked_.at(node);
  for (std::size_t at = op; at > 0; --at) {
    const auto [known, fresh] = acked.try_emplace(Op(at), stable[at - 1].header.id);
    if (!fresh && known->second == stable[at - 1].header.id) break;
    known->second = stable[at - 1].header.id;
  }
  vote(node, view, stable, entry.op);
}

// The primary's own vote is not sent: it counts as soon as it is true.
void Checks::on_durable(std::uint8_t node, const StoredRecord& record, const std::vector<StoredEntry>& stable) {
  if (!stable.empty()) on_known(stable.back().header);
  if (record.log_view != record.view || quorums_.primary(record.view) != ReplicaIndex(node)) return;
  vote(node, record.view, stable, Op(stable.size()));
}

// What log_view certifies is durable with it, and nothing else is there.
void Checks::on_record(std::uint8_t node, const StoredRecord& record, View log_view_before, const std::vector<StoredEntry>& stable) {
  if (record.log_view > log_view_before) {
    if (Op(stable.size()) > record.head())
      fail(fmt::format("certificate: replica {} certifies log_view {} to op {}, and has op {} durable", node, record.log_view,
                       record.head(), stable.size()));
    for (const Header& header : record.headers) {
      if (header.op.value() <= stable.size() && stable[header.op.value() - 1].header.id != header.id)
        fail(fmt::format("certificate: replica {} certifies log_view {} and has another entry at op {}", node, record.log_view, header.op));
    }
  }
  on_durable(node, record, stable);
}

// Nothing that a replica acknowledged does it deny, in words or by the end of its log.
void Checks::on_report(std::uint8_t node, const Dvc& dvc) {
  for (const auto& [op, id] : acked_.at(node)) {
    const bool nacked = dvc.covers(op) && dvc.header(op).id == id && dvc.nack[dvc.index_of(op)];
    const bool ended = op > dvc.op && op > dvc.doubtful_to;
    if (nacked || ended) fail(fmt::format("nack: replica {} denies op {}, which it acknowledged", node, op));
  }
}

void Checks::on_step(std::uint8_t node, const Replica& replica, const std::vector<StoredEntry>& stable) {
  Seen& seen = seen_.at(node);
  if (replica.view() < seen.view) fail(fmt::format("monotone: replica {} goes back from view {} to {}", node, seen.view, replica.view()));
  if (replica.log_view() < seen.log_view)
    fail(fmt::format("monotone: replica {} goes back from log_view {} to {}", node, seen.log_view, replica.log_view()));
  if (replica.commit() < seen.commit)
    fail(fmt::format("monotone: replica {} goes back from commit {} to {}", node, seen.commit, replica.commit()));
  if (replica.log_view() > replica.view())
    fail(fmt::format("monotone: replica {} has log_view {} in view {}", node, replica.log_view(), replica.view()));
  if (replica.durable() > Op(stable.size()))
    fail(fmt::format("durable: replica {} takes op {} for durable, and {} are", node, replica.durable(), stable.size()));
  if (replica.conflicts() != 0) fail(fmt::format("conflict: replica {} sees reports that contradict each other", node));
  if (replica.commit() > replica.head().op)
    fail(fmt::format("commit: replica {} has commit {} and head {}", node, replica.commit(), replica.head().op));
  // A log that it takes over and that ends below what it lost decides that this never was committed: it needs no truncation.
  if (replica.log_view() > seen.log_view) give_up(node, replica.head().op);
  seen = {replica.view(), replica.log_view(), replica.commit()};
}

}  // namespace sluice::vsr
