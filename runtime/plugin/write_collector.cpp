// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/write_collector.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/assert.hpp"

namespace sluice::plugin {

namespace {

// The outcome of a call as a whole has scope connector; one that says otherwise is a broken plugin.
Outcome checked_call_outcome(const char* call, const sluice_outcome* raw, const std::vector<std::string>& secrets) {
  Outcome outcome = read_outcome(raw, secrets);
  if (outcome.scope == Scope::kConnector) return outcome;
  return contract_violation(fmt::format("{} reported a failure of the whole call with scope record: {}", call, outcome.text));
}

// The call ended in a way that leaves nothing of what it reported to be believed.
bool is_host_verdict(const Outcome& failure) {
  return failure.code == kContractCode || failure.code == kThrewCode || failure.code == kNoReasonCode;
}

bool same_text(sluice_text text, std::string_view expected) {
  return read_text(text) == expected;
}

}  // namespace

OwnedPartition::OwnedPartition(const Assignment& assignment, U128 cluster_id)
    : assignment_(assignment), accepted_next_(assignment.committed_next), durable_next_(assignment.committed_next) {
  abi_.struct_size = sizeof abi_;
  abi_.partition = assignment_.partition.value();
  abi_.cluster_id_low = cluster_id.low;
  abi_.cluster_id_high = cluster_id.high;
  abi_.stream = {assignment_.topic.stream.data(), assignment_.topic.stream.size()};
  abi_.topic = {assignment_.topic.topic.data(), assignment_.topic.topic.size()};
  abi_.incarnation = assignment_.incarnation.value();
  abi_.epoch = assignment_.epoch.value();
  abi_.committed_next = assignment_.committed_next.value();
}

std::string OwnedPartition::name() const {
  return fmt::format("{}/{} partition {}", assignment_.topic.stream, assignment_.topic.topic, assignment_.partition);
}

void OwnedPartition::advance_durable(Offset durable_next) {
  SLUICE_ASSERT(durable_next >= durable_next_ && durable_next <= accepted_next_, "durable {} was {} accepted {}", durable_next,
                durable_next_, accepted_next_);
  durable_next_ = durable_next;
}

bool OwnedPartition::is_same(const sluice_assignment& other) const {
  return other.partition == abi_.partition && other.incarnation == abi_.incarnation && same_text(other.stream, assignment_.topic.stream) &&
         same_text(other.topic, assignment_.topic.topic);
}

void DurableReports::blame(std::string text) {
  if (!violation_) violation_ = contract_violation(std::move(text));
}

void DurableReports::add(const sluice_assignment* partition, std::uint64_t durable_next) {
  if (partition == nullptr || partition->struct_size < sizeof(sluice_assignment)) {
    return blame("the sink reported a durable offset of a partition that is null or too short");
  }
  for (const auto& [ref, owned] : owned_) {
    if (!owned.is_same(*partition)) continue;
    Offset& latest = advances_.try_emplace(ref, owned.durable_next()).first->second;
    if (Offset(durable_next) < latest) {
      return blame(fmt::format("the sink's durable offset of {} went back from {} to {}", owned.name(), latest, durable_next));
    }
    latest = Offset(durable_next);
    return;
  }
  blame("the sink reported a durable offset of a partition that it does not own");
}

const std::optional<Outcome>& DurableReports::check() {
  for (const auto& [ref, durable_next] : advances_) {
    const OwnedPartition& owned = owned_.at(ref);
    if (durable_next > owned.accepted_next()) {
      blame(fmt::format("the sink called {} durable up to {}, but had accepted only up to {}", owned.name(), durable_next,
                        owned.accepted_next()));
    }
  }
  return violation_;
}

std::vector<DurableAdvance> DurableReports::apply() {
  std::vector<DurableAdvance> out;
  for (const auto& [ref, durable_next] : advances_) {
    owned_.at(ref).advance_durable(durable_next);
    out.push_back({ref, durable_next});
  }
  return out;
}

WriteCollector::WriteCollector(OwnedPartitions& owned, OwnedPartition& partition, const sluice_batch& batch,
                               const std::vector<std::string>& secrets)
    : partition_(partition), batch_(batch), secrets_(secrets), durable_(owned) {
  result_.struct_size = sizeof result_;
  result_.accepted_next = offset_at(0).value();
  result_.durable_next = partition.durable_next().value();
  result_.host_data = this;
  result_.record_failed = &WriteCollector::on_record_failed;
  result_.call_failed = &WriteCollector::on_call_failed;
  result_.durable = &WriteCollector::on_durable;
}

Offset WriteCollector::offset_at(std::uint32_t index) const {
  const auto* at = reinterpret_cast<const std::byte*>(batch_.records) + std::size_t{index} * batch_.record_stride;
  return Offset(reinterpret_cast<const sluice_record*>(at)->offset);
}

void WriteCollector::on_record_failed(void* self, std::uint32_t index, const sluice_outcome* raw) noexcept {
  auto& collector = *static_cast<WriteCollector*>(self);
  if (index >= collector.batch_.record_count) {
    return collector.durable_.blame(
        fmt::format("write reported record {} as failed in a batch of {}", index, collector.batch_.record_count));
  }
  if (!collector.failures_.empty() && index <= collector.failures_.back().index) {
    return collector.durable_.blame(
        fmt::format("write reported record {} as failed after record {}", index, collector.failures_.back().index));
  }
  Outcome outcome = read_outcome(raw, collector.secrets_);
  if (outcome.code == kContractCode) return collector.durable_.blame(std::move(outcome.text));
  if (outcome.scope != Scope::kRecord) {
    return collector.durable_.blame(fmt::format("write reported the failure of record {} with scope connector: {}", index, outcome.text));
  }
  collector.failures_.push_back({index, std::move(outcome)});
}

void WriteCollector::on_call_failed(void* self, const sluice_outcome* raw) noexcept {
  auto& collector = *static_cast<WriteCollector*>(self);
  collector.outcome_ = checked_call_outcome("write", raw, collector.secrets_);
}

void WriteCollector::on_durable(void* self, const sluice_assignment* partition, std::uint64_t durable_next) noexcept {
  auto& collector = *static_cast<WriteCollector*>(self);
  if (partition != nullptr && partition->struct_size >= sizeof(sluice_assignment) && collector.partition_.is_same(*partition)) {
    collector.result_.durable_next = std::max(collector.result_.durable_next, durable_next);
    return;
  }
  collector.durable_.add(partition, durable_next);
}

std::optional<std::string> WriteCollector::offsets_wrong() const {
  const Offset first = offset_at(0);
  const Offset end = offset_at(batch_.record_count - 1).next();
  const Offset accepted(result_.accepted_next);
  if (accepted < first || accepted > end) {
    return fmt::format("write accepted up to {} of a batch of offsets {}..{} of {}", accepted, first, end - 1, partition_.name());
  }
  if (!failures_.empty() && offset_at(failures_.back().index) > accepted) {
    return fmt::format("write reported offset {} of {} as failed, but had tried only up to {}", offset_at(failures_.back().index),
                       partition_.name(), accepted);
  }
  const Offset durable(result_.durable_next);
  const Offset accepted_in_all = std::max(accepted, partition_.accepted_next());
  if (durable < partition_.durable_next()) {
    return fmt::format("the sink's durable offset of {} went back from {} to {}", partition_.name(), partition_.durable_next(), durable);
  }
  if (durable > accepted_in_all) {
    return fmt::format("the sink called {} durable up to {}, but had accepted only up to {}", partition_.name(), durable, accepted_in_all);
  }
  return std::nullopt;
}

WriteReport WriteCollector::finish(std::optional<Outcome> failure) {
  if (failure && is_host_verdict(*failure)) return nothing(*std::move(failure));
  if (auto wrong = offsets_wrong()) durable_.blame(*std::move(wrong));
  if (const auto& violation = durable_.check()) return nothing(*violation);

  partition_.accept(Offset(result_.accepted_next));
  partition_.advance_durable(Offset(result_.durable_next));
  WriteReport report;
  report.accepted_next = Offset(result_.accepted_next);
  report.durable_next = partition_.durable_next();
  report.others = durable_.apply();
  report.failures = std::move(failures_);
  report.failure = std::move(failure);
  return report;
}

WriteReport WriteCollector::nothing(Outcome failure) const {
  WriteReport report;
  report.accepted_next = offset_at(0);
  report.durable_next = partition_.durable_next();
  report.failure = std::move(failure);
  return report;
}

FlushCollector::FlushCollector(OwnedPartitions& owned, const std::vector<std::string>& secrets)
    : owned_(owned), secrets_(secrets), durable_(owned) {
  result_.struct_size = sizeof result_;
  result_.host_data = this;
  result_.call_failed = &FlushCollector::on_call_failed;
  result_.durable = &FlushCollector::on_durable;
}

void FlushCollector::on_call_failed(void* self, const sluice_outcome* raw) noexcept {
  auto& collector = *static_cast<FlushCollector*>(self);
  collector.outcome_ = checked_call_outcome("flush", raw, collector.secrets_);
}

void FlushCollector::on_durable(void* self, const sluice_assignment* partition, std::uint64_t durable_next) noexcept {
  static_cast<FlushCollector*>(self)->durable_.add(partition, durable_next);
}

FlushReport FlushCollector::finish(std::optional<Outcome> failure) {
  if (const auto& violation = durable_.check()) return {.durable = {}, .failure = violation};
  if (failure && is_host_verdict(*failure)) return {.durable = {}, .failure = std::move(failure)};
  FlushReport report{.durable = {}, .failure = std::move(failure)};
  if (report.failure) {
    report.durable = durable_.apply();
    return report;
  }
  // Success means that all that was accepted is durable, whether the sink listed it or not.
  for (auto& [ref, owned] : owned_) {
    if (owned.durable_next() == owned.accepted_next()) continue;
    owned.advance_durable(owned.accepted_next());
    report.durable.push_back({ref, owned.durable_next()});
  }
  return report;
}

}  // namespace sluice::plugin
