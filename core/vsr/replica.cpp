// SPDX-License-Identifier: Apache-2.0
#include "core/vsr/replica.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"
#include "core/base/mutation.hpp"
#include "core/base/overload.hpp"

namespace sluice::vsr {

void Effects::clear() {
  persist.reset();
  truncate.reset();
  append.reset();
  serve.reset();
  commit.reset();
  send_count_ = 0;
}

Replica::Replica(const ReplicaConfig& config, View created_view)
    : config_(config), status_(Status::kNormal), view_(created_view), log_view_(created_view), ring_(config.root_id) {}

namespace {

// The log holds entries of a view above the certificate only if they came as committed ones.
Op committed_at(const Recovered& recovered, const HeaderRing& ring) {
  Op commit = recovered.commit;
  const Op reach(ring.head().value() - std::min<std::uint64_t>(ring.head().value(), kPipelineMax));
  for (Op op = std::max(commit, reach).next(); op <= ring.head(); op = op.next()) {
    if (ring.holds(op) && ring.at(op).view > recovered.log_view) commit = op;
  }
  return commit;
}

}  // namespace

std::string_view Replica::unrecoverable(const ReplicaConfig& config, const Recovered& recovered) {
  if (config.self.value() >= config.quorums.count()) return "the replica is none of the cluster";
  if (recovered.log_view > recovered.view) return "the log_view is above the view";
  if (recovered.log_headers.size() > kSuffixMax || recovered.record_headers.size() > kSuffixMax) return "there are too many headers";
  HeaderRing ring(config.root_id);
  for (const Header& header : recovered.log_headers) {
    if (ring.head() != Op(0) && !ring.is_next(header)) return "the headers of the log are no chain";
    ring.push(header);
  }
  for (const Header& header : recovered.record_headers) {
    if (ring.holds(header.op)) {
      if (!ring.has(header.op_id())) return "the log is not the one that the record certifies";
    } else if (header.op > ring.head()) {
      if (!ring.is_next(header)) return "the log ends before what the record certifies begins";
      ring.push(header);
    }
  }
  if (recovered.commit > ring.head()) return "the log ends before its commit";
  if (ring.head() - committed_at(recovered, ring) > kPipelineMax) return "more is prepared than the pipeline holds";
  return {};
}

Replica::Replica(const ReplicaConfig& config, const Recovered& recovered)
    : config_(config),
      view_(recovered.view),
      log_view_(SLUICE_MUTATED(kVsrRestartCertifies) ? recovered.view : recovered.log_view),
      ring_(config.root_id),
      doubtful_to_(recovered.doubtful_to) {
  const std::string_view reason = unrecoverable(config, recovered);
  SLUICE_ASSERT(reason.empty(), "{}", reason);
  for (const Header& header : recovered.log_headers) ring_.push(header);
  held_ = durable_ = ring_.head();
  for (const Header& header : recovered.record_headers) {
    if (header.op > ring_.head() && !SLUICE_MUTATED(kVsrRecordHeadersForgotten)) ring_.push(header);
  }
  heard_commit_ = commit_ = committed_at(recovered, ring_);
  // A log loses its end: what reaches as far as the doubt has lost nothing.
  if (doubtful_to_ <= durable_) doubtful_to_ = Op(0);
  if (SLUICE_MUTATED(kVsrPrimaryGoesOn) && is_primary()) status_ = Status::kNormal;
}

void Replica::start(Instant now, Effects& effects) {
  effects.clear();
  effects_ = &effects;
  now_ = now;
  record_changed_ = true;
  heartbeat_at_ = now;
  resend_at_ = now + config_.timing.resend;
  election_at_ = election_deadline();
  // A single replica has nobody to ask, and what it prepared in its last view may be lost: it begins the next one. The others ask with the
  // first tick, or as soon as they hear a primary.
  if (status_ == Status::kRecovering && config_.quorums.count() == 1) enter_view_change(view_.next());
  finish();
}

void Replica::step(Instant now, const Event& event, Effects& effects) {
  effects.clear();
  if (status_ == Status::kFenced) return;
  SLUICE_ASSERT(now >= now_, "time went back from {} to {}", now_.count(), now.count());
  effects_ = &effects;
  now_ = now;
  std::visit(
      Overload{[this](const Tick&) { on_tick(); },  //
               [this](const Message& message) { on_message(message); }, [this](const Proposed& proposed) { on_proposed(proposed.header); },
               [this](const EntryDurable& durable) { on_durable(durable.entry, durable.epoch); },
               [this](const Truncated& truncated) { on_truncated(truncated.epoch); },
               [this](const Fenced&) { status_ = SLUICE_MUTATED(kVsrFencedSpeaks) ? status_ : Status::kFenced; }},
      event);
  if (status_ == Status::kFenced) {
    effects.clear();
    return;
  }
  finish();
}

// Which message means what in which view: the handlers take it for granted.
void Replica::on_message(const Message& message) {
  const ReplicaIndex from = message.from;
  if (from.value() >= config_.quorums.count() || from == config_.self) return;
  const bool newer = message.view > view_;
  const bool current = message.view == view_;
  const bool from_primary = from == config_.quorums.primary(message.view);
  const bool normal = current && status_ == Status::kNormal;
  // A sign of a view that runs and that this replica has not taken over.
  const auto runs_elsewhere = [&] { return from_primary && (newer || (current && !normal && !is_primary())); };
  std::visit(
      Overload{[&](const Prepare& prepare) {
                 if (normal && from_primary) on_prepare(from, prepare);
                 if (runs_elsewhere()) meet_newer_view(from);
               },
               [&](const Commit& commit) {
                 if ((normal || SLUICE_MUTATED(kVsrCommitOfAnyView)) && from_primary) on_commit(from, commit);
                 if (runs_elsewhere()) meet_newer_view(from);
               },
               [&](const PrepareOk& ok) {
                 if (normal && is_primary()) on_prepare_ok(from, ok);
               },
               [&](const StartViewChange&) { on_start_view_change(from, message.view); },
               [&](const DoViewChange& change) {
                 if (change.dvc.replica == from && change.dvc.view == message.view && malformed(change.dvc, config_.quorums).empty()) {
                   on_do_view_change(from, change.dvc);
                 }
               },
               [&](const StartView& start) {
                 if (from_primary && (newer || (current && !normal))) on_start_view(from, message.view, start);
               },
               [&](const RequestStartView&) { on_request_start_view(from, message.view); },
               [&](const RequestEntries& request) { on_request_entries(from, request); },
               [&](const RepairEntry& repair) {
                 if (newer && status_ == Status::kViewChange && is_primary()) give_view_up();
                 on_repair_entry(repair);
               }},
      message.body);
}

void Replica::on_tick() {
  if (status_ == Status::kNormal && is_primary() && now_ >= heartbeat_at_) send_heartbeats();
  if (now_ >= resend_at_) {
    resend_at_ = now_ + config_.timing.resend;
    resend();
  }
}

// Everything that has no answer yet, computed anew each time from what is missing now.
void Replica::resend() {
  const bool leads = status_ == Status::kNormal && is_primary();
  if (leads) {
    send_unacknowledged();
  } else if (now_ >= election_at_) {
    want_view_change();
  }
  if (status_ == Status::kRecovering) send_to_others(RequestStartView{}, {.view = view_});
  if (status_ == Status::kViewChange) {
    if (is_primary()) {
      try_start();
    } else {
      send(primary(), DoViewChange{own_report()});
    }
  }
  if (!SLUICE_MUTATED(kVsrRepairsOnce)) request_missing();
}

Instant Replica::next_deadline() const {
  if (status_ == Status::kFenced) return Instant::max();
  return status_ == Status::kNormal && is_primary() ? std::min(heartbeat_at_, resend_at_) : resend_at_;
}

void Replica::on_truncated(LogEpoch epoch) {
  if (!truncating_ || epoch != epoch_) return;
  truncating_ = false;
  // Whoever waited for it asks for the log again.
  if (status_ == Status::kViewChange && is_primary()) {
    try_start();
  } else if (!certified() || status_ != Status::kNormal) {
    send_to_others(RequestStartView{}, {.view = view_});
  }
}

void Replica::finish() {
  effects_->commit = std::min(commit_, held_);
  if (!record_changed_) return;
  record_changed_ = false;
  effects_->persist = StateRecord{.view = view_,
                                  .log_view = log_view_,
                                  .commit = commit_,
                                  .doubtful_to = doubtful_to_,
                                  .headers = ring_.copy(Op(0), effects_->record_)};
}

void Replica::send(ReplicaIndex to, const decltype(Message::body)& body, const Gate& gate) {
  effects_->push({.to = to, .gate = gate, .message = {.from = config_.self, .view = view_, .body = body}});
}

void Replica::send_to_others(const decltype(Message::body)& body, const Gate& gate) {
  for (std::uint8_t i = 0; i < config_.quorums.count(); ++i) {
    if (ReplicaIndex(i) != config_.self) send(ReplicaIndex(i), body, gate);
  }
}

std::span<const Header> Replica::suffix() {
  return ring_.copy(std::max(commit_, Op(1)), effects_->suffix_);
}

Instant Replica::election_deadline() const {
  // The same at every run of the same replica: it only has to differ between replicas and views.
  std::array<std::byte, 16> seed{};
  store_le(seed.data(), config_.jitter_seed);
  store_le(seed.data() + 8, std::uint64_t{view_.value()} << 8 | config_.self.value());
  const auto spread = static_cast<std::uint64_t>(config_.timing.jitter_max.count()) + 1;
  const auto jitter = std::chrono::milliseconds(xxh3_64(seed) % spread);
  return now_ + config_.timing.election + jitter;
}

}  // namespace sluice::vsr
