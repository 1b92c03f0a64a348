// SPDX-License-Identifier: Apache-2.0
// View changes: paper §4.2. A replica leaves its view only when a quorum wants to.
#include <algorithm>

#include "core/base/mutation.hpp"
#include "core/vsr/replica.hpp"

namespace sluice::vsr {

void Replica::want_view_change() {
  wanted_[config_.self.value()] = {.view = view_.next(), .since = now_};
  for (std::uint8_t i = 0; i < config_.quorums.count(); ++i) {
    if (ReplicaIndex(i) == config_.self) continue;
    // Not a promise, so it needs no more than the view that is left; the message names the view that is wanted.
    effects_->push({.to = ReplicaIndex(i),
                    .gate = {.view = view_},
                    .message = {.from = config_.self, .view = view_.next(), .body = StartViewChange{}}});
  }
  count_wanted();
}

void Replica::on_start_view_change(ReplicaIndex from, View wanted) {
  if (wanted <= view_) {
    on_request_start_view(from, wanted);
    return;
  }
  // Its sender is in the view before that one, and entered it because a quorum wanted to. It cannot come back, so this one follows.
  const View left_for = wanted - 1;
  if (left_for > view_) enter_view_change(left_for);
  wanted_[from.value()] = {.view = wanted, .since = now_};
  count_wanted();
}

void Replica::count_wanted() {
  std::array<View, kReplicasMax> views{};
  for (std::size_t i = 0; i < config_.quorums.count(); ++i) {
    // A wish is repeated as long as it is held: an old one counts no more.
    if (now_ - wanted_[i].since <= 3 * config_.timing.resend) views[i] = wanted_[i].view;
  }
  const auto end = views.begin() + config_.quorums.count();
  std::sort(views.begin(), end, std::greater<>());
  const View agreed = views[config_.quorums.view_change() - 1U];
  if (agreed > view_) enter_view_change(agreed);
}

void Replica::enter_view_change(View view) {
  SLUICE_ASSERT(view > view_, "view {} after {}", view, view_);
  view_ = view;
  if (SLUICE_MUTATED(kVsrEmptyLogCertifies) && ring_.head() == Op(0)) log_view_ = view;
  status_ = Status::kViewChange;
  record_changed_ = true;
  acknowledged_.fill(Op(0));
  election_at_ = election_deadline();
  behind_ = false;
  reports_.reset();
  if (is_primary()) {
    reports_ = std::make_unique<Reports>();
    try_start();
  } else {
    send(primary(), DoViewChange{own_report()}, {.view = SLUICE_MUTATED(kVsrReportBeforeRecord) ? View(0) : view_});
  }
}

Dvc Replica::own_report() {
  Dvc dvc{.replica = config_.self,
          .view = view_,
          .log_view = log_view_,
          .op = ring_.head(),
          .commit = commit_,
          .doubtful_to = SLUICE_MUTATED(kVsrDoubtDenied) ? Op(0) : doubtful_to_,
          .headers = suffix(),
          .present = {},
          .nack = {}};
  for (std::size_t i = 0; i < dvc.headers.size(); ++i) {
    const Op op = dvc.headers[i].op;
    dvc.present[i] = op <= held_ || SLUICE_MUTATED(kVsrHeaderIsCopy);
    // It knows the header alone. It never had the entry, unless it may have lost it.
    dvc.nack[i] = op > held_ && op > commit_ && op > dvc.doubtful_to && !SLUICE_MUTATED(kVsrHeaderAbstains);
  }
  return dvc;
}

void Replica::on_do_view_change(ReplicaIndex from, const Dvc& dvc) {
  if (dvc.view < view_ || status_ == Status::kNormal) {
    if (dvc.view <= view_) on_request_start_view(from, dvc.view);
  }
  // Its sender left its view because a quorum wanted to.
  if (dvc.view > view_) enter_view_change(dvc.view);
  if (dvc.view != view_ || status_ != Status::kViewChange || !is_primary()) return;
  record(dvc);
  try_start();
}

void Replica::record(const Dvc& dvc) {
  auto& headers = reports_->headers[dvc.replica.value()];
  std::ranges::copy(dvc.headers, headers.begin());
  Dvc& kept = reports_->of[dvc.replica.value()].emplace(dvc);
  kept.headers = std::span(headers).first(dvc.headers.size());
}

// In the primary of a view that has not begun: as soon as its log is decided and held, it does.
void Replica::try_start() {
  if (truncating_) return;
  if (!certified()) {
    record(own_report());
    std::array<Dvc, kReplicasMax> dvcs;
    std::size_t count = 0;
    for (const auto& dvc : reports_->of) {
      if (dvc) dvcs[count++] = *dvc;
    }
    Outcome outcome = merge_dvc(std::span(dvcs).first(count), config_.quorums);
    conflicts_ += outcome.verdict == Verdict::kConflict ? 1 : 0;
    if (outcome.verdict != Verdict::kReady) return;
    if (SLUICE_MUTATED(kVsrKeepsOwnLog)) outcome = {.verdict = outcome.verdict, .log_view = {}, .commit = commit_, .headers = suffix()};
    const Adoption adoption = adopt(view_, outcome.commit, outcome.headers);
    behind_ = adoption == Adoption::kBehind;
    if (behind_) request_missing();
    if (adoption != Adoption::kAdopted) return;
  }
  if (held_ == ring_.head() || SLUICE_MUTATED(kVsrBeginsWithoutEntries)) {
    become_primary();
  } else {
    request_missing();
  }
}

void Replica::become_primary() {
  status_ = Status::kNormal;
  reports_.reset();
  acknowledged_.fill(Op(0));
  send_to_others(StartView{.commit = commit_, .headers = suffix()}, normal_gate());
  heartbeat_at_ = now_ + config_.timing.heartbeat;
  progress_at_ = now_;
  count_acknowledgements();
}

// Others have gone on: what they reported for this view is of the past, and must not be merged with what is known now.
void Replica::give_view_up() {
  status_ = Status::kRecovering;
  reports_.reset();
  send_to_others(RequestStartView{}, {.view = view_});
}

}  // namespace sluice::vsr
