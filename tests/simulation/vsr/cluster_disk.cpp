// SPDX-License-Identifier: Apache-2.0
// What the disks of a cluster do: writes that become durable one after the other, crashes between two of them, what a start finds.
#include <algorithm>

#include "tests/simulation/vsr/cluster.hpp"

namespace sluice::vsr {

Recovered Cluster::recovered(std::uint8_t node, std::vector<Header>& headers) const {
  const Node& it = nodes_[node];
  headers.clear();
  const std::size_t from = it.log.size() - std::min(it.log.size(), kSuffixMax);
  for (std::size_t at = from; at < it.log.size(); ++at) headers.push_back(it.log[at].header);
  const Op known = std::max(Op(it.log.size()), it.record->head());
  const Op commit = std::max(std::min(it.record->commit, known), it.log.empty() ? Op(0) : it.log.back().commit);
  return {.view = it.record->view,
          .log_view = it.record->log_view,
          .commit = commit,
          .doubtful_to = it.record->doubtful_to,
          .log_headers = headers,
          .record_headers = it.record->headers};
}

void Cluster::restart_without(std::uint8_t node, std::size_t entries) {
  Node& it = nodes_[node];
  if (it.replica || !it.record) return;
  it.record->doubtful_to = std::max(it.record->doubtful_to, Op(it.log.size()));
  it.log.resize(it.log.size() - std::min(entries, it.log.size()));
  // A host refuses a copy that ends below what its record names; here the loss is smaller then.
  std::vector<Header> headers;
  while (it.log.size() < it.stable.size() && !Replica::unrecoverable(config(node), recovered(node, headers)).empty()) {
    it.log.push_back(it.stable[it.log.size()]);
  }
  it.stable = it.log;
  it.lost = true;
  restart(node);
}

void Cluster::write(std::uint8_t node, Op entry_commit) {
  Node& it = nodes_[node];
  const Effects& effects = *effects_;
  const View log_view = it.records.empty() ? (it.record ? it.record->log_view : View(0)) : it.records.back().record.log_view;
  bool amid = false;
  if (effects.persist) {
    const StateRecord& record = *effects.persist;
    amid = record.log_view > log_view;
    it.records.push_back(
        {.record = {record.view, record.log_view, record.commit, record.doubtful_to, {record.headers.begin(), record.headers.end()}},
         .at = soon(faults.sync_max)});
    ++it.records_issued;
  }
  if (effects.truncate) {
    amid = true;
    ++counts.truncations;
    checks_.on_truncated(node, effects.truncate->to.op, it.log);
    it.log.resize(effects.truncate->to.op.value());
    it.writes.push_back({.truncate = effects.truncate, .append = {}, .epoch = effects.truncate->epoch, .at = soon(faults.sync_max)});
  }
  if (effects.append) {
    it.log.push_back({.header = appended_, .commit = entry_commit});
    it.writes.push_back({.truncate = {},
                         .append = it.log.back(),
                         .epoch = it.replica->epoch(),
                         .after_records = it.records_issued,
                         .at = soon(faults.sync_max)});
  }
  if (amid && happens(faults.crash_amid)) it.crash_after = random_.below(4);
}

bool Cluster::crashes_now(std::uint8_t node) {
  Node& it = nodes_[node];
  if (!it.crash_after || faults.crash_amid == 0) return false;
  if (*it.crash_after > 0) {
    --*it.crash_after;
    return false;
  }
  ++counts.crashes_amid;
  crash(node);
  return true;
}

void Cluster::complete_record(std::uint8_t node) {
  Node& it = nodes_[node];
  const View before = it.record ? it.record->log_view : View(0);
  it.record = std::move(it.records.front().record);
  it.records.pop_front();
  ++it.records_done;
  checks_.on_record(node, *it.record, before, it.stable);
  if (crashes_now(node)) return;
  if (trace) tell(node, fmt::format("record durable: view {} log_view {}", it.record->view, it.record->log_view));
  release(node);
}

void Cluster::complete_write(std::uint8_t node) {
  Node& it = nodes_[node];
  const LogWrite done = it.writes.front();
  it.writes.pop_front();
  if (done.truncate) {
    it.stable.resize(std::min<std::size_t>(it.stable.size(), done.truncate->to.op.value()));
    if (!crashes_now(node)) step(node, Truncated{done.epoch});
    return;
  }
  it.stable.push_back(done.append);
  checks_.on_durable(node, *it.record, it.stable);
  if (crashes_now(node)) return;
  it.notices.push_back({.durable = {.entry = done.append.header.op_id(), .epoch = done.epoch}, .at = now_});
  if (happens(faults.late_notice)) {
    it.notices.back().at = soon(100 * faults.sync_max);
    ++counts.late_notices;
  }
}

void Cluster::notify(std::uint8_t node, std::size_t index) {
  Node& it = nodes_[node];
  const EntryDurable durable = it.notices[index].durable;
  it.notices.erase(it.notices.begin() + static_cast<std::ptrdiff_t>(index));
  step(node, durable);
}

}  // namespace sluice::vsr
