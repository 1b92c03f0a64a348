// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/vsr/cluster.hpp"

#include <algorithm>
#include <array>

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"
#include "tests/simulation/vsr/describe.hpp"

namespace sluice::vsr {
namespace {

constexpr U128 kRoot{0x12007, 0};

// Copies what the message points to, and points to the copy.
std::vector<Header> detach(Message& message) {
  std::vector<Header> headers;
  if (auto* change = std::get_if<DoViewChange>(&message.body)) headers.assign(change->dvc.headers.begin(), change->dvc.headers.end());
  if (auto* start = std::get_if<StartView>(&message.body)) headers.assign(start->headers.begin(), start->headers.end());
  return headers;
}
void attach(Message& message, const std::vector<Header>& headers) {
  if (auto* change = std::get_if<DoViewChange>(&message.body)) change->dvc.headers = headers;
  if (auto* start = std::get_if<StartView>(&message.body)) start->headers = headers;
}

}  // namespace

Cluster::Cluster(std::size_t replica_count, std::uint64_t seed, View created_view, std::size_t born)
    : random_(seed), quorums_(*Quorums::of(replica_count)), created_view_(created_view), nodes_(replica_count), checks_(quorums_) {
  for (std::uint8_t i = 0; i < std::min<std::size_t>(born, size()); ++i) restart(i);
}

ReplicaConfig Cluster::config(std::uint8_t node) const {
  return {.self = ReplicaIndex(node), .quorums = quorums_, .root_id = kRoot, .jitter_seed = node};
}

void Cluster::restart(std::uint8_t node) {
  Node& it = nodes_[node];
  if (it.replica) return;
  if (!it.record) {
    it.replica = std::make_unique<Replica>(config(node), created_view_);
    counts.births += counts.events > 0 ? 1 : 0;
  } else {
    std::vector<Header> headers;
    it.replica = std::make_unique<Replica>(config(node), recovered(node, headers));
  }
  checks_.on_restart(node, it.record ? &*it.record : nullptr, *it.replica, it.lost);
  it.lost = false;
  if (trace) tell(node, "starts");
  it.replica->start(now_, *effects_);
  carry_out(node, {});
}

void Cluster::crash(std::uint8_t node) {
  Node& it = nodes_[node];
  if (trace && it.replica) tell(node, "crashes");
  it.replica.reset();
  it.records.clear();
  it.writes.clear();
  it.notices.clear();
  it.records_issued = it.records_done;
  it.crash_after.reset();
  it.held.clear();
  it.waiting.clear();
  it.log = it.stable;
}

void Cluster::isolate(std::uint8_t node) {
  for (std::uint8_t other = 0; other < size(); ++other) cut_[node][other] = cut_[other][node] = other != node;
}

void Cluster::fence(std::uint8_t node) {
  Node& it = nodes_[node];
  it.records.clear();
  it.writes.clear();
  it.notices.clear();
  it.held.clear();
  it.waiting.clear();
  it.crash_after.reset();
  checks_.on_fenced(node);
  step(node, Fenced{});
}

void Cluster::step(std::uint8_t node, const Event& event, Op entry_commit) {
  nodes_[node].replica->step(now_, event, *effects_);
  carry_out(node, entry_commit);
  observe(node, event);
}

void Cluster::tell(std::uint8_t node, const std::string& what) const {
  trace(fmt::format("{:9.3f} ms  {} {}", std::chrono::duration<double, std::milli>(now_).count(), node, what));
}

// Folds what happened and what it led to into the hash.
void Cluster::observe(std::uint8_t node, const Event& event) {
  const Replica& replica = *nodes_[node].replica;
  const std::array<std::uint64_t, 9> values{hash_,
                                            static_cast<std::uint64_t>(now_.count()),
                                            node,
                                            event.index(),
                                            static_cast<std::uint64_t>(replica.status()),
                                            std::uint64_t{replica.view().value()} << 32 | replica.log_view().value(),
                                            replica.commit().value(),
                                            replica.held().value(),
                                            replica.head().id.low ^ replica.head().id.high};
  std::array<std::byte, sizeof(values)> bytes{};
  for (std::size_t i = 0; i < values.size(); ++i) store_le(bytes.data() + 8 * i, values.at(i));
  hash_ = xxh3_64(bytes);
  if (trace) tell(node, fmt::format("{}  -> {}", describe(event), describe(replica)));
}

void Cluster::carry_out(std::uint8_t node, Op entry_commit) {
  Node& it = nodes_[node];
  const Effects& effects = *effects_;
  ++counts.events;
  counts.sends_max = std::max(counts.sends_max, effects.sends().size());
  write(node, entry_commit);
  if (effects.commit) checks_.on_commit(node, *effects.commit, it.log);
  checks_.on_step(node, *it.replica, it.stable);
  for (const Send& send : effects.sends()) {
    Letter letter{.to = send.to.value(), .gate = send.gate, .message = send.message, .headers = {}, .at = {}, .commit = {}};
    letter.headers = detach(letter.message);
    if (const auto* prepare = std::get_if<Prepare>(&letter.message.body)) letter.commit = it.log[prepare->header.op.value() - 1].commit;
    it.held.push_back(std::move(letter));
  }
  if (effects.serve) serve(node, *effects.serve);
  if (it.replica->status() == Status::kNormal && it.replica->is_primary() && it.replica->view() > newest_primary_view_) {
    newest_primary_view_ = it.replica->view();
    ++counts.views;
  }
  answer_clients(node);
  release(node);
}

void Cluster::serve(std::uint8_t node, const Serving& serving) {
  for (Op op = serving.first; op <= serving.last; op = op.next()) {
    const StoredEntry& entry = nodes_[node].log[op.value() - 1];
    ++counts.repaired;
    nodes_[node].held.push_back({.to = serving.to.value(),
                                 .gate = serving.gate,
                                 .message = {.from = ReplicaIndex(node),
                                             .view = serving.view,
                                             .body = RepairEntry{.header = entry.header, .commit = serving.commit}},
                                 .headers = {},
                                 .at = {},
                                 .commit = entry.commit});
  }
}

// Whoever proposed here is answered when the entry is committed, by the primary that took it.
void Cluster::answer_clients(std::uint8_t node) {
  Node& it = nodes_[node];
  const Op commit = *effects_->commit;
  std::erase_if(it.waiting, [&](const OpId& entry) {
    if (entry.op > commit) return false;
    if (it.log[entry.op.value() - 1].header.id == entry.id) {
      checks_.on_client_answered(entry);
      ++answered_;
    }
    return true;
  });
}

void Cluster::release(std::uint8_t node) {
  Node& it = nodes_[node];
  std::vector<Letter> still;
  for (Letter& letter : it.held) {
    const Gate& gate = letter.gate;
    if (gate.entry.op != Op(0) && gate.epoch != it.replica->epoch()) continue;
    const bool state = it.record && it.record->view >= gate.view && it.record->log_view >= gate.log_view;
    const std::size_t op = gate.entry.op.value();
    const bool entry = op == 0 || (op <= it.stable.size() && it.stable[op - 1].header.id == gate.entry.id);
    if (state && entry) {
      post(node, std::move(letter));
    } else {
      still.push_back(std::move(letter));
    }
  }
  it.held = std::move(still);
}

void Cluster::post(std::uint8_t from, Letter letter) {
  Node& it = nodes_[from];
  ++it.sent;
  attach(letter.message, letter.headers);
  checks_.on_sent(from, letter.message, it.stable, *it.record);
  if (cut_[from][letter.to] || happens(faults.lose)) {
    ++counts.lost;
    return;
  }
  // One link keeps the order. A repeated letter comes whenever it likes.
  Instant& last = last_at_[from][letter.to];
  letter.at = last = std::max(last + Instant(1), soon(faults.delay_max));
  network_.push_back(letter);
  if (happens(faults.repeat)) {
    ++counts.repeated;
    letter.at += 10 * faults.delay_max;
    network_.push_back(std::move(letter));
  }
}

void Cluster::deliver(std::size_t index) {
  Letter letter = std::move(network_[index]);
  network_[index] = std::move(network_.back());
  network_.pop_back();
  Node& to = nodes_[letter.to];
  if (!to.replica || cut_[letter.message.from.value()][letter.to]) return;
  attach(letter.message, letter.headers);
  if (const auto* prepare = std::get_if<Prepare>(&letter.message.body)) appended_ = prepare->header;
  if (const auto* repair = std::get_if<RepairEntry>(&letter.message.body)) appended_ = repair->header;
  step(letter.to, letter.message, letter.commit);
}

bool Cluster::propose_at(std::uint8_t node) {
  Node& it = nodes_[node];
  if (!it.replica || !it.replica->can_prepare()) return false;
  const OpId head = it.replica->head();
  appended_ = {.op = head.op.next(), .view = it.replica->view(), .id = {next_id_++, it.replica->view().value()}, .parent = head.id};
  it.waiting.push_back(appended_.op_id());
  step(node, Proposed{appended_}, it.replica->commit());
  return true;
}

bool Cluster::propose() {
  const auto at = primary();
  return at && propose_at(*at);
}

std::optional<std::uint8_t> Cluster::primary() const {
  std::optional<std::uint8_t> found;
  for (std::uint8_t i = 0; i < size(); ++i) {
    const Replica* replica = nodes_[i].replica.get();
    if (replica == nullptr || replica->status() != Status::kNormal || !replica->is_primary()) continue;
    if (!found || replica->view() > nodes_[*found].replica->view()) found = i;
  }
  return found;
}

Cluster::Next Cluster::next(Instant end) const {
  Next first{.at = end};
  const auto consider = [&](Instant at, Due due, std::size_t node, std::size_t index) {
    if (at < first.at) first = {.at = at, .due = due, .node = node, .index = index};
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& it = nodes_[i];
    if (!it.replica) continue;
    consider(it.replica->next_deadline(), Due::kTick, i, 0);
    for (std::size_t at = 0; at < it.notices.size(); ++at) consider(it.notices[at].at, Due::kNotice, i, at);
    if (!it.records.empty() && !it.record_stalled) consider(it.records.front().at, Due::kRecord, i, 0);
    const bool writes = !it.writes.empty() && !it.log_stalled && it.writes.front().after_records <= it.records_done;
    if (writes) consider(it.writes.front().at, Due::kWrite, i, 0);
  }
  for (std::size_t i = 0; i < network_.size(); ++i) consider(network_[i].at, Due::kLetter, 0, i);
  return first;
}

void Cluster::run(milliseconds time) {
  const Instant end = now_ + time;
  while (checks_.wrong().empty() && counts.events < events_max) {
    const Next first = next(end);
    now_ = std::max(now_, first.at);
    const auto node = static_cast<std::uint8_t>(first.node);
    switch (first.due) {
      case Due::kNothing:
        return;
      case Due::kTick:
        step(node, Tick{});
        break;
      case Due::kRecord:
        complete_record(node);
        break;
      case Due::kWrite:
        complete_write(node);
        break;
      case Due::kNotice:
        notify(node, first.index);
        break;
      case Due::kLetter:
        deliver(first.index);
        break;
    }
  }
}

bool Cluster::converged() const {
  const auto at = primary();
  if (!at) return false;
  const Replica& leader = *nodes_[*at].replica;
  return std::ranges::all_of(nodes_, [&](const Node& node) {
    return node.replica && node.replica->status() == Status::kNormal && node.replica->view() == leader.view() &&
           node.replica->commit() == leader.head().op && node.replica->held() == leader.head().op;
  });
}

std::string Cluster::text() const {
  std::string out;
  for (std::uint8_t i = 0; i < size(); ++i) {
    const Node& node = nodes_[i];
    out += fmt::format("[{} {}] ", i, node.replica ? describe(*node.replica) : "down");
  }
  return out;
}

}  // namespace sluice::vsr
