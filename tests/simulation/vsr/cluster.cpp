// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/vsr/cluster.hpp"

#include <algorithm>

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

Cluster::Cluster(std::size_t replica_count, std::uint64_t seed, View created_view)
    : random_(seed), quorums_(*Quorums::of(replica_count)), created_view_(created_view), nodes_(replica_count) {
  for (std::uint8_t i = 0; i < size(); ++i) restart(i);
}

ReplicaConfig Cluster::config(std::uint8_t node) const {
  return {.self = ReplicaIndex(node), .quorums = quorums_, .root_id = kRoot, .jitter_seed = node};
}

void Cluster::restart(std::uint8_t node) {
  Node& it = nodes_[node];
  if (it.replica) return;
  if (!it.record) {
    it.replica = std::make_unique<Replica>(config(node), created_view_);
    checks_.on_restart(node, created_view_, created_view_);
  } else {
    std::vector<Header> headers;
    const std::size_t from = it.log.size() - std::min(it.log.size(), kSuffixMax);
    for (std::size_t at = from; at < it.log.size(); ++at) headers.push_back(it.log[at].header);
    const Op known = std::max(Op(it.log.size()), it.record->headers.empty() ? Op(0) : it.record->headers.back().op);
    const Op commit = std::max(std::min(it.record->commit, known), it.log.empty() ? Op(0) : it.log.back().commit);
    const Recovered recovered{.view = it.record->view,
                              .log_view = it.record->log_view,
                              .commit = commit,
                              .doubtful_to = it.record->doubtful_to,
                              .log_headers = headers,
                              .record_headers = it.record->headers};
    it.replica = std::make_unique<Replica>(config(node), recovered);
    checks_.on_restart(node, it.record->view, it.record->log_view);
  }
  it.replica->start(now_, *effects_);
  carry_out(node, {});
}

void Cluster::restart_without(std::uint8_t node, std::size_t entries) {
  Node& it = nodes_[node];
  if (it.replica || !it.record) return;
  it.record->doubtful_to = std::max(it.record->doubtful_to, Op(it.log.size()));
  it.log.resize(it.log.size() - std::min(entries, it.log.size()));
  it.stable = it.log;
  restart(node);
}

void Cluster::crash(std::uint8_t node) {
  Node& it = nodes_[node];
  it.replica.reset();
  it.disk.clear();
  it.held.clear();
  it.waiting.clear();
  it.log = it.stable;
}

void Cluster::isolate(std::uint8_t node) {
  for (std::uint8_t other = 0; other < size(); ++other) cut_[node][other] = cut_[other][node] = other != node;
}

void Cluster::fence(std::uint8_t node) {
  step(node, Fenced{});
}

void Cluster::step(std::uint8_t node, const Event& event, Op entry_commit) {
  nodes_[node].replica->step(now_, event, *effects_);
  carry_out(node, entry_commit);
}

void Cluster::carry_out(std::uint8_t node, Op entry_commit) {
  Node& it = nodes_[node];
  const Effects& effects = *effects_;
  ++counts.events;
  if (effects.persist) {
    const StateRecord& record = *effects.persist;
    it.disk.push_back(
        {.record = Record{record.view, record.log_view, record.commit, record.doubtful_to, {record.headers.begin(), record.headers.end()}},
         .truncate = {},
         .append = {},
         .epoch = {},
         .at = soon(faults.sync_max)});
  }
  if (effects.truncate) {
    ++counts.truncations;
    checks_.on_truncated(node, effects.truncate->to.op);
    it.log.resize(effects.truncate->to.op.value());
    it.disk.push_back(
        {.record = {}, .truncate = effects.truncate, .append = {}, .epoch = effects.truncate->epoch, .at = soon(faults.sync_max)});
  }
  if (effects.append) {
    it.log.push_back({.header = appended_, .commit = entry_commit});
    it.disk.push_back({.record = {}, .truncate = {}, .append = it.log.back(), .epoch = it.replica->epoch(), .at = soon(faults.sync_max)});
  }
  if (effects.commit) checks_.on_commit(node, *effects.commit, it.log);
  checks_.on_step(node, *it.replica);
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
  checks_.on_sent(from, letter.message, it.stable, it.record->view, it.record->log_view);
  if (cut_[from][letter.to] || happens(faults.lose)) {
    ++counts.lost;
    return;
  }
  // One link keeps the order. A repeated letter comes whenever it likes.
  Instant& last = last_at_[from][letter.to];
  letter.at = last = std::max(last + Instant(1), soon(faults.delay_max));
  network_.push_back(letter);
  if (happens(faults.repeat)) {
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

void Cluster::complete(std::uint8_t node) {
  Node& it = nodes_[node];
  DiskOp op = std::move(it.disk.front());
  it.disk.pop_front();
  if (op.record) {
    it.record = std::move(op.record);
    step(node, StatePersisted{.view = it.record->view, .log_view = it.record->log_view});
  } else if (op.truncate) {
    it.stable.resize(std::min<std::size_t>(it.stable.size(), op.truncate->to.op.value()));
    step(node, Truncated{op.epoch});
  } else {
    it.stable.push_back(*op.append);
    step(node, EntryDurable{.entry = op.append->header.op_id(), .epoch = op.epoch});
  }
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

void Cluster::run(milliseconds time) {
  const Instant end = now_ + time;
  while (checks_.wrong().empty()) {
    // What is due first: a tick, a completion of a disk, a letter.
    Instant at = end;
    std::size_t what = 0;
    std::size_t index = 0;
    const auto consider = [&](Instant due, std::size_t kind, std::size_t which) {
      if (due < at) at = due, what = kind, index = which;
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].replica) continue;
      consider(nodes_[i].replica->next_deadline(), 1, i);
      if (!nodes_[i].disk.empty() && !nodes_[i].stalled) consider(nodes_[i].disk.front().at, 2, i);
    }
    for (std::size_t i = 0; i < network_.size(); ++i) consider(network_[i].at, 3, i);
    now_ = std::max(now_, at);
    if (what == 0) return;
    if (what == 1) step(static_cast<std::uint8_t>(index), Tick{});
    if (what == 2) complete(static_cast<std::uint8_t>(index));
    if (what == 3) deliver(index);
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
    if (!node.replica) {
      out += fmt::format("[{} down] ", i);
      continue;
    }
    const Replica& replica = *node.replica;
    out += fmt::format("[{} status {} view {} log_view {} commit {} held {} head {}] ", i, static_cast<int>(replica.status()),
                       replica.view(), replica.log_view(), replica.commit(), replica.held(), replica.head().op);
  }
  return out;
}

}  // namespace sluice::vsr
