// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/vsr/describe.hpp"

#include <array>
#include <string_view>

#include "core/base/overload.hpp"

namespace sluice::vsr {
namespace {

std::string describe(const OpId& entry) {
  return fmt::format("{}:{:x}", entry.op, entry.id.low);
}

std::string describe(const Dvc& dvc) {
  std::string out = fmt::format("do_view_change log_view {} commit {} op {}", dvc.log_view, dvc.commit, dvc.op);
  if (dvc.doubtful_to != Op(0)) out += fmt::format(" doubtful to {}", dvc.doubtful_to);
  for (std::size_t i = 0; i < dvc.headers.size(); ++i) {
    out += fmt::format(" {}{}", describe(dvc.headers[i].op_id()), dvc.present[i] ? "" : dvc.nack[i] ? " never" : " ?");
  }
  return out;
}

std::string describe(const Message& message) {
  const std::string body = std::visit(
      Overload{[](const Prepare& it) { return fmt::format("prepare {} commit {}", describe(it.header.op_id()), it.commit); },
               [](const PrepareOk& it) { return fmt::format("prepare_ok {}", describe(it.entry)); },
               [](const Commit& it) { return fmt::format("commit {}", it.commit); },
               [](const StartViewChange&) { return std::string("start_view_change"); },
               [](const DoViewChange& it) { return describe(it.dvc); },
               [](const StartView& it) {
                 return fmt::format("start_view commit {} head {}", it.commit,
                                    it.headers.empty() ? std::string("none") : describe(it.headers.back().op_id()));
               },
               [](const RequestStartView&) { return std::string("request_start_view"); },
               [](const RequestEntries& it) { return fmt::format("request_entries {}..{}", it.first, it.last); },
               [](const RepairEntry& it) { return fmt::format("repair_entry {} commit {}", describe(it.header.op_id()), it.commit); }},
      message.body);
  return fmt::format("hears {} in view {}: {}", message.from.value(), message.view, body);
}

}  // namespace

std::string describe(const Event& event) {
  return std::visit(Overload{[](const Tick&) { return std::string("tick"); }, [](const Message& it) { return describe(it); },
                             [](const Proposed& it) { return fmt::format("proposes {}", describe(it.header.op_id())); },
                             [](const EntryDurable& it) { return fmt::format("durable {} of epoch {}", describe(it.entry), it.epoch); },
                             [](const Truncated& it) { return fmt::format("truncated, epoch {}", it.epoch); },
                             [](const Fenced&) { return std::string("fenced"); }},
                    event);
}

std::string describe(const Replica& replica) {
  static constexpr std::array<std::string_view, 4> kStatus{"normal", "view change", "recovering", "fenced"};
  return fmt::format("{}{} view {} log_view {} commit {} held {} head {}", kStatus.at(static_cast<std::size_t>(replica.status())),
                     replica.is_primary() ? " primary" : "", replica.view(), replica.log_view(), replica.commit(), replica.held(),
                     describe(replica.head()));
}

}  // namespace sluice::vsr
