// SPDX-License-Identifier: Apache-2.0
// Repair. What is missing is computed from what is known now, each time anew.
#include <algorithm>

#include "core/base/mutation.hpp"
#include "core/vsr/replica.hpp"

namespace sluice::vsr {

// Entries of one request; the next one follows when they are there, or with the next resend.
static constexpr std::uint64_t kRepairedEntriesMax = 32;

// Puts the entry that came with this event at the end of the log.
void Replica::take(const Header& header) {
  SLUICE_ASSERT(!truncating_ && header.op == held_.next(), "op {} after {}", header.op, held_);
  if (header.op > ring_.head()) ring_.push(header);
  held_ = header.op;
  effects_->append = header.op_id();
  if (SLUICE_MUTATED(kVsrHeldIsDurable)) durable_ = held_;
  commit_ = std::max(commit_, certified() ? std::min(heard_commit_, ring_.head()) : Op(0));
}

void Replica::truncate_to(Op op) {
  SLUICE_ASSERT(op >= commit_ && op < held_, "to {}, commit {}, held {}", op, commit_, held_);
  ring_.cut(op);
  held_ = op;
  durable_ = std::min(durable_, op);
  // What it may have lost above is as little of the log of any view. What it lost below may not be durable again.
  doubtful_to_ = op <= durable_ ? Op(0) : std::min(doubtful_to_, op);
  epoch_ = epoch_.next();
  truncating_ = true;
  record_changed_ = true;
  effects_->truncate = Truncation{.to = ring_.head_id(), .epoch = epoch_};
}

void Replica::request_missing() {
  if (truncating_ || (status_ == Status::kNormal && is_primary())) return;
  // Without a certificate the log above the commit may be another one: that is compared from there on.
  const Op first = verified().next();
  const bool lacks = behind_ || (certified() && held_ < std::max(ring_.head(), heard_commit_));
  if (!lacks || (verified() < requested_to_ && now_ < request_at_)) return;
  if (repair_from_ == config_.self || repair_from_.value() >= config_.quorums.count()) {
    repair_from_ = ReplicaIndex(static_cast<std::uint8_t>((config_.self.value() + 1) % config_.quorums.count()));
  }
  if (repair_from_ == config_.self) return;
  request_at_ = now_ + config_.timing.heartbeat;
  requested_to_ = first + (kRepairedEntriesMax - 1);
  send(repair_from_, RequestEntries{.first = first, .last = requested_to_});
  repair_from_ = ReplicaIndex(static_cast<std::uint8_t>((repair_from_.value() + 1) % config_.quorums.count()));
}

void Replica::on_request_entries(ReplicaIndex from, const RequestEntries& request) {
  if (truncating_ || request.first == Op(0) || request.first > held_) return;
  const Op last = std::min({request.last, held_, request.first + (kRepairedEntriesMax - 1)});
  effects_->serve = Serving{.to = from, .gate = {.view = view_}, .view = view_, .commit = commit_, .first = request.first, .last = last};
}

void Replica::on_repair_entry(const RepairEntry& repair) {
  const Header& header = repair.header;
  if (truncating_ || held_ - durable_ >= kPipelineMax || (status_ == Status::kNormal && is_primary())) return;
  if (header.op == held_.next() && (ring_.has(header.op_id()) || (SLUICE_MUTATED(kVsrRepairByOp) && ring_.holds(header.op)))) {
    take(header);
  } else if (header.op <= repair.commit && !ring_.has(header.op_id()) && !(SLUICE_MUTATED(kVsrCommittedByOp) && ring_.holds(header.op))) {
    on_committed_entry(header);
  } else if (header.op <= repair.commit && header.op <= held_ && header.op > commit_) {
    commit_ = header.op;  // the same entry, and so are all below it
  } else {
    return;
  }
  if (status_ == Status::kViewChange && is_primary()) try_start();
  if (verified() >= requested_to_) request_missing();
}

// An entry that is committed, whatever the view, and that is not known here.
void Replica::on_committed_entry(const Header& header) {
  if (header.op == commit_.next() && ring_.holds(header.op)) {
    // What is here in its place never was committed, nor what follows that.
    if (certified() && !behind_) return;
    if (held_ > commit_) {
      truncate_to(SLUICE_MUTATED(kVsrTruncatesAtCommit) && commit_ > Op(0) ? commit_ - 1 : commit_);
    } else {
      ring_.cut(commit_);
      record_changed_ = true;
    }
    return;
  }
  if (header.op != held_.next() || held_ != ring_.head() || !ring_.is_next(header)) return;
  take(header);
  commit_ = std::max(commit_, header.op);
}

}  // namespace sluice::vsr
