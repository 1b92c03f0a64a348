// SPDX-License-Identifier: Apache-2.0
// Taking over the log of a view: paper §4.2, start_view, and §4.3.
#include <algorithm>

#include "core/base/mutation.hpp"
#include "core/vsr/replica.hpp"

namespace sluice::vsr {

void Replica::meet_newer_view(ReplicaIndex from) {
  if (now_ < ask_at_) return;
  ask_at_ = now_ + config_.timing.heartbeat;
  send(from, RequestStartView{});
}

void Replica::on_request_start_view(ReplicaIndex from, View view) {
  if (status_ != Status::kNormal || !is_primary() || view > view_) return;
  send(from, StartView{.commit = commit_, .headers = suffix()}, normal_gate());
}

void Replica::on_start_view(ReplicaIndex from, View view, const StartView& start) {
  if (truncating_ || view < view_) return;
  // It has the shape of a report in which nothing is said of any entry.
  const Op head = start.headers.empty() ? start.commit : start.headers.back().op;
  const Dvc shape{.replica = from,
                  .view = view,
                  .log_view = view,
                  .op = head,
                  .commit = start.commit,
                  .doubtful_to = {},
                  .headers = start.headers,
                  .present = {},
                  .nack = {}};
  if (!malformed(shape, config_.quorums).empty()) return;
  if (certified() && view == view_) {
    // Its log is a part of this view's already: it only was not known whether the view still runs.
    hear_commit(start.commit);
    become_backup(from);
    return;
  }
  if (SLUICE_MUTATED(kVsrCommitUncompared)) hear_commit(start.commit);
  if (adopt(view, start.commit, start.headers) == Adoption::kAdopted) {
    become_backup(from);
    return;
  }
  // It stays out of every view until its log can be judged.
  if (view > view_ || status_ == Status::kNormal) status_ = Status::kRecovering;
  if (view > view_) {
    // So that reports for a view before it, which may come late, are not merged with what is known by then.
    view_ = view;
    reports_.reset();
    record_changed_ = true;
  }
  election_at_ = election_deadline();
  repair_from_ = from;
  behind_ = !truncating_;
  request_missing();
}

// Makes the log of `view` this replica's own: its headers become known and log_view certifies it. Nothing of it changes unless the log here
// is, up to where the headers begin, durably the same, and has nothing that contradicts them.
Replica::Adoption Replica::adopt(View view, Op commit, std::span<const Header> headers) {
  SLUICE_ASSERT(!truncating_ && view >= view_ && view > log_view_, "view {} after {}, log of {}", view, view_, log_view_);
  const Op first = std::max(commit, Op(1));
  const Op head = headers.empty() ? Op(0) : headers.back().op;
  // Older than what was heard of the same view since.
  if (commit_ > head) return Adoption::kBehind;
  if (held_.next() < first || (durable_.next() < first && !SLUICE_MUTATED(kVsrAdoptsBeforeDurable))) return Adoption::kBehind;
  // The entry before the headers ties the two logs together; or the commit here does, if it is among the headers.
  if (commit_ < first && first > Op(1) && (!ring_.holds(first - 1) || ring_.id(first - 1) != headers.front().parent))
    return Adoption::kBehind;
  if (commit_ >= first && !ring_.has(headers[commit_ - first].op_id())) {
    ++conflicts_;
    return Adoption::kBehind;
  }
  Op same = std::max(commit_, first - 1);
  while (!SLUICE_MUTATED(kVsrTruncatesTheSame) && same < std::min(head, ring_.head()) &&
         (ring_.has(headers[same.next() - first].op_id()) || SLUICE_MUTATED(kVsrSameByOp)))
    same = same.next();
  if (held_ > same) {
    // Not in the log of the view, so never committed. The certificate waits until it is gone.
    truncate_to(same);
    if (!SLUICE_MUTATED(kVsrCertifiesBeforeTruncation)) return Adoption::kTruncating;
  }
  if (ring_.head() > same) ring_.cut(same);
  while (ring_.head() < head) ring_.push(headers[ring_.head().next() - first]);
  view_ = view;
  log_view_ = view;
  commit_ = std::max(commit_, commit);
  heard_commit_ = std::max(heard_commit_, commit_);
  // What it may have lost above this log was not committed.
  doubtful_to_ = std::min(doubtful_to_, head);
  behind_ = false;
  record_changed_ = true;
  return Adoption::kAdopted;
}

void Replica::become_backup(ReplicaIndex primary) {
  status_ = Status::kNormal;
  behind_ = false;
  reports_.reset();
  acknowledged_.fill(Op(0));
  election_at_ = election_deadline();
  repair_from_ = primary;
  acknowledge();
  request_missing();
}

}  // namespace sluice::vsr
