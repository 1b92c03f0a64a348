// SPDX-License-Identifier: Apache-2.0
// Normal operation: paper §4.1.
#include <algorithm>

#include "core/base/mutation.hpp"
#include "core/vsr/replica.hpp"

namespace sluice::vsr {

bool Replica::can_prepare() const {
  return status_ == Status::kNormal && is_primary() && !truncating_ && held_ == ring_.head() && ring_.head() - commit_ < kPipelineMax &&
         held_ - durable_ < kPipelineMax;
}

void Replica::on_proposed(const Header& header) {
  SLUICE_ASSERT(can_prepare(), "status {}", static_cast<int>(status_));
  SLUICE_ASSERT(ring_.is_next(header) && header.view == view_, "op {} of view {} after {} in view {}", header.op, header.view, ring_.head(),
                view_);
  if (held_ == commit_) progress_at_ = now_;
  take(header);
  // It may leave before it is durable here: what commits it is the acknowledgement, and that waits.
  send_to_others(Prepare{.header = header, .commit = commit_}, normal_gate());
}

void Replica::on_prepare(ReplicaIndex from, const Prepare& prepare) {
  election_at_ = election_deadline();
  hear_commit(prepare.commit);
  const Header& header = prepare.header;
  if (header.op <= durable_) {
    acknowledge();
    return;
  }
  if (truncating_ || header.op != held_.next()) return;
  // Two bounds: what the pipeline allows to be uncommitted, and what a slow disk may leave behind.
  if (header.op - commit_ > kPipelineMax || held_ - durable_ >= kPipelineMax) return;
  const bool known = ring_.has(header.op_id());
  if (known || ring_.is_next(header)) take(header);
  repair_from_ = from;
}

void Replica::on_commit(ReplicaIndex from, const Commit& commit) {
  election_at_ = election_deadline();
  hear_commit(commit.commit);
  repair_from_ = from;
  if (durable_ > commit.commit) acknowledge();
}

void Replica::on_durable(OpId entry, LogEpoch epoch) {
  // A completion from before a truncation says nothing of the log after it.
  const bool current = (epoch == epoch_ && ring_.has(entry)) || SLUICE_MUTATED(kVsrOldCompletionCounts);
  if (!current || entry.op > held_ || entry.op <= durable_) return;
  durable_ = entry.op;
  if (doubtful_to_ != Op(0) && durable_ >= doubtful_to_) {
    doubtful_to_ = Op(0);
    record_changed_ = true;
  }
  if (status_ != Status::kNormal) {
    // A log that had to grow before the view could begin.
    if (status_ == Status::kViewChange && is_primary()) try_start();
    return;
  }
  if (is_primary()) {
    count_acknowledgements();
  } else {
    acknowledge();
  }
}

void Replica::acknowledge() {
  const Op op = SLUICE_MUTATED(kVsrAckBeforeDurable) ? held_ : durable_;
  if (op == Op(0) || !ring_.holds(op)) return;
  const OpId entry{op, ring_.id(op)};
  Gate gate{.view = view_, .log_view = view_, .entry = entry, .epoch = epoch_};
  if (SLUICE_MUTATED(kVsrAckBeforeDurable)) gate.entry = {};
  if (SLUICE_MUTATED(kVsrAckBeforeLogView)) gate.log_view = View(0);
  send(primary(), PrepareOk{entry}, gate);
}

void Replica::on_prepare_ok(ReplicaIndex from, const PrepareOk& ok) {
  if (!ring_.has(ok.entry)) return;
  Op& known = acknowledged_[from.value()];
  known = std::max(known, ok.entry.op);
  count_acknowledgements();
}

void Replica::hear_commit(Op commit) {
  heard_commit_ = std::max(heard_commit_, commit);
  // The head is of this view's log, so what lies below it is what was committed.
  commit_ = std::max(commit_, std::min(heard_commit_, SLUICE_MUTATED(kVsrCommitBeyondHead) ? heard_commit_ : ring_.head()));
}

void Replica::count_acknowledgements() {
  if (status_ != Status::kNormal || !is_primary()) return;
  // Its own counts like any other, once the entry is durable. That its log_view is durable too the others' votes say, for nothing of the
  // view reached them before; and a single replica appends nothing before.
  acknowledged_[config_.self.value()] = durable_;
  std::array<Op, kReplicasMax> sorted = acknowledged_;
  const auto end = sorted.begin() + config_.quorums.count();
  std::sort(sorted.begin(), end, std::greater<>());
  const Op before = commit_;
  hear_commit(sorted[config_.quorums.replication() - (SLUICE_MUTATED(kVsrCommitsWithFewer) && config_.quorums.count() > 1 ? 2U : 1U)]);
  if (commit_ > before || commit_ == held_) progress_at_ = now_;
}

void Replica::send_heartbeats() {
  heartbeat_at_ = now_ + config_.timing.heartbeat;
  if (is_stuck()) return;
  send_to_others(Commit{commit_}, normal_gate());
}

// A primary that cannot commit says nothing, so that the others elect one that can.
bool Replica::is_stuck() const {
  return held_ > commit_ && now_ - progress_at_ > 2 * config_.timing.election;
}

void Replica::send_unacknowledged() {
  if (is_stuck()) return;
  for (std::uint8_t i = 0; i < config_.quorums.count(); ++i) {
    if (ReplicaIndex(i) == config_.self) continue;
    Op op = std::max(acknowledged_[i], commit_).next();
    for (std::uint64_t sent = 0; sent < kResentEntriesMax && op <= held_; ++sent, op = op.next()) {
      send(ReplicaIndex(i), Prepare{.header = ring_.at(op), .commit = commit_}, normal_gate());
    }
  }
}

}  // namespace sluice::vsr
