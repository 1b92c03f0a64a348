// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/fault_plan.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace sluice::sim {
namespace {

bool selects(const Fault& fault, const Operation& operation) {
  if (fault.kind && *fault.kind != operation.kind) return false;
  return operation.path.find(fault.path_part) != std::string::npos || operation.to.find(fault.path_part) != std::string::npos;
}

std::string describe(const Fault& fault) {
  if (fault.effect == FaultEffect::kSlow) return fmt::format("slow by {} steps", fault.slow_steps);
  if (fault.effect == FaultEffect::kStuck) return "stuck";
  static constexpr std::array<std::string_view, 3> kPoints{"before it", "half-way", "after it"};
  const std::string_view point = kPoints.at(static_cast<std::size_t>(fault.point));
  if (fault.effect == FaultEffect::kCrash) return fmt::format("crash {}", point);
  return fmt::format("{} {}", strerrorname_np(fault.error_number), point);
}

}  // namespace

std::string_view to_string(OperationKind kind) {
  static constexpr std::array<std::string_view, 13> kNames{
      "open",           "create",           "read", "write",         "sync", "truncate", "stat", "rename", "remove",
      "make directory", "remove directory", "list", "sync directory"};
  return kNames.at(static_cast<std::size_t>(kind));
}

bool is_change(OperationKind kind) {
  return kind != OperationKind::kOpen && kind != OperationKind::kRead && kind != OperationKind::kStat && kind != OperationKind::kList;
}

std::string to_string(const Operation& operation) {
  std::string out = fmt::format("{} {} {}", operation.number, to_string(operation.kind), operation.path);
  if (!operation.to.empty()) out += fmt::format(" to {}", operation.to);
  if (operation.kind == OperationKind::kWrite || operation.kind == OperationKind::kRead)
    out += fmt::format(" at {}, {} bytes", operation.position, operation.bytes);
  if (operation.kind == OperationKind::kTruncate) out += fmt::format(" to {} bytes", operation.bytes);
  if (!operation.fault.empty()) out += fmt::format("; {}", operation.fault);
  return out;
}

void FaultPlan::restart() {
  faults_.clear();
  operations_ = 0;
  trace_.clear();
  delay_ = {};
}

std::string FaultPlan::trace_text() const {
  std::string out;
  for (const Operation& operation : trace_) out += to_string(operation) + "\n";
  return out;
}

std::optional<Fault> FaultPlan::begin(Operation operation) {
  operation.number = ++operations_;
  std::optional<Fault> due;
  for (Armed& armed : faults_) {
    if (!selects(armed.fault, operation)) continue;
    ++armed.seen;
    if (armed.seen < armed.fault.at || armed.seen - armed.fault.at >= armed.fault.lasts) continue;
    operation.fault += (operation.fault.empty() ? "" : ", ") + describe(armed.fault);
    if (armed.fault.effect == FaultEffect::kSlow) {
      delay_.steps = std::max(delay_.steps, armed.fault.slow_steps);
    } else if (armed.fault.effect == FaultEffect::kStuck) {
      delay_.stuck = true;
    } else if (!due) {
      due = armed.fault;
    }
  }
  trace_.push_back(std::move(operation));
  if (trace_.size() > kTraceMax) trace_.pop_front();
  return due;
}

FaultPlan::Delay FaultPlan::take_delay() {
  return std::exchange(delay_, {});
}

}  // namespace sluice::sim
