// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/log/log_world.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/log/chain.hpp"

namespace sluice::sim {
namespace {

entry::EntryDraft numbered_batch(std::uint64_t number, std::size_t bytes) {
  entry::BatchBuilder builder;
  RecordView record;
  record.id = U128{number, 1};
  std::string text = fmt::format("record {} ", number);
  text.resize(std::max(text.size(), bytes), static_cast<char>('a' + number % 26));
  record.payload = as_bytes(text);
  const auto added = builder.add(record);
  SLUICE_ASSERT(added.has_value(), "{}", added.error().to_string());
  return *std::move(builder).finish();
}

}  // namespace

Result<void> LogWorld::open(std::optional<log::Witness> witness) {
  log::LogOptions options;
  options.directory = "/data/partition";
  options.group = GroupId{7};
  options.incarnation = Incarnation{3};
  options.segment_bytes = 4096 + 3000;
  options.index_stride_bytes = 600;
  options.hot_bytes = 1000;
  options.witness = witness;
  options.clock = &clock_;
  options.prewrite = std::make_shared<log::PrewriteBudget>();
  options.replicated = replicated_;
  SLUICE_TRY(log::OpenedLog opened, log::EntryLog::open(machine_.process(), queue_, std::move(options)));
  log_ = std::move(opened.log);
  report_ = std::move(opened.report);
  if (log_->mint_from()) append(entry::EntryDraft::gap(*log_->mint_from()), true);
  return {};
}

void LogWorld::die() {
  log_.reset();
  queue_.drop();
  appended_.clear();
}

void LogWorld::append(std::size_t bytes, bool must_sync) {
  append(numbered_batch(++number_, bytes), must_sync);
}

void LogWorld::append(entry::EntryDraft draft, bool must_sync) {
  entry::EntryStamp stamp = log_->next_stamp(draft, clock_.wall(), must_sync);
  stamp.commit = log_->acknowledged_op();
  const entry::SharedEntry entry = std::move(draft).stamp(stamp);
  appended_[entry.header().op] = entry;
  log_->append(entry, [this, entry](Result<void> outcome) {
    if (!outcome) return;
    const entry::EntryHeader& header = entry.header();
    promises_.acknowledged[header.op] = std::string(as_text(entry.view.bytes()));
    if (header.has(entry::flag::kMustSync)) promises_.durable = std::max(promises_.durable, header.op);
    if (header.message_count != 0) promises_.given_out[header.base_offset] = std::string(as_text(entry.view.bytes()));
    promises_.witness = log::Witness{header.op, header.identity, header.op};
  });
}

void LogWorld::truncate(Op op) {
  const log::LogHead root = log::empty_head(GroupId{7}, Incarnation{3});
  const log::LogHead target = op == root.op ? root : log::head_after(appended_.at(op).header());
  promises_.cutting = op;
  promises_.cut.clear();
  for (auto entry = appended_.upper_bound(op); entry != appended_.end(); entry = appended_.erase(entry))
    promises_.cut[entry->first] = std::string(as_text(entry->second.view.bytes()));
  promises_.cut_acknowledged = {promises_.acknowledged.upper_bound(op), promises_.acknowledged.end()};
  promises_.cut_durable = promises_.durable;
  promises_.acknowledged.erase(promises_.acknowledged.upper_bound(op), promises_.acknowledged.end());
  promises_.given_out.erase(promises_.given_out.lower_bound(target.next_offset), promises_.given_out.end());
  promises_.durable = std::min(promises_.durable, op);
  log_->truncate(op, target.id, [this, target](Result<void> outcome) {
    SLUICE_ASSERT(outcome || log_->fenced() || machine_.crashed(), "{}", outcome.error().to_string());
    if (!outcome) return;
    settle_truncation();
    if (promises_.acknowledged.contains(target.op)) promises_.durable = std::max(promises_.durable, target.op);
    if (promises_.witness && promises_.witness->op > target.op) promises_.witness = log::Witness{target.op, target.id, target.op};
  });
}

void LogWorld::settle_truncation() {
  for (auto& [op, bytes] : promises_.cut) promises_.gone[op].push_back(std::move(bytes));
  promises_.cut.clear();
  promises_.cutting.reset();
}

void LogWorld::checkpoint() {
  const Op op = log_->acknowledged_op();
  const std::string body = fmt::format("state at {}", op.value());
  log_->write_checkpoint(op, ByteVector(as_bytes(body).begin(), as_bytes(body).end()), [this, op](Result<void> outcome) {
    if (!outcome) return;
    promises_.checkpoint = op;
    promises_.durable = std::max(promises_.durable, op);
  });
}

void LogWorld::trim(std::uint64_t ops_kept) {
  const Op head = log_->head().op;
  if (head.value() <= ops_kept) return;
  promises_.trim_allowed = Op{head.value() - ops_kept};
  // One record to a batch: offsets go with ops, one behind.
  log_->drop_before(Offset{promises_.trim_allowed.value() - 1}, [](Result<std::size_t>) {});
}

void LogWorld::sync() {
  log_->sync([this, head = log_->head().op](Result<void> outcome) {
    if (outcome) promises_.durable = std::max(promises_.durable, head);
  });
}

std::string LogWorld::broken_promise(bool power_was_lost) {
  if (log_->checkpoint_op() < promises_.checkpoint)
    return fmt::format("the checkpoint is at op {}, not at {}", log_->checkpoint_op(), promises_.checkpoint);
  if (log_->first_op() > promises_.trim_allowed)
    return fmt::format("the log begins at op {}, and may be trimmed up to {}", log_->first_op(), promises_.trim_allowed);
  std::map<Op, std::string> found;
  const auto replayed = log_->replay(log_->first_op(), [&](const entry::EntryView& view) -> Result<void> {
    std::string& bytes = found[view.header().op];
    bytes = std::string(as_text(view.bytes()));
    const auto gone = promises_.gone.find(view.header().op);
    if (gone != promises_.gone.end() && std::ranges::find(gone->second, bytes) != gone->second.end())
      return fail(sluice::Errc::kInternal, fmt::format("op {} was truncated and is back", view.header().op));
    const auto given = promises_.given_out.find(view.header().base_offset);
    if (view.header().message_count != 0 && given != promises_.given_out.end() && given->second != found[view.header().op])
      return fail(sluice::Errc::kInternal, fmt::format("offset {} was given out with other bytes", view.header().base_offset));
    return {};
  });
  if (!replayed) return replayed.error().to_string();
  const auto missing = [&](const std::map<Op, std::string>& promised, Op durable) -> std::string {
    for (const auto& [op, bytes] : promised) {
      if (op < log_->first_op() || (power_was_lost && op > durable)) continue;
      if (!found.contains(op)) return fmt::format("op {} was acknowledged and is gone; the log ends at op {}", op, log_->head().op);
      if (found[op] != bytes) return fmt::format("op {} was acknowledged with other bytes", op);
    }
    return "";
  };
  const bool not_cut = promises_.cutting && log_->head().op > *promises_.cutting && !log_->mint_from();
  if (not_cut) {
    if (std::string gone = missing(promises_.cut_acknowledged, promises_.cut_durable); !gone.empty()) return "half a truncation: " + gone;
  }
  return missing(promises_.acknowledged, promises_.durable);
}

void LogWorld::promise_what_is_there() {
  // A truncation that the crash met has happened or not.
  if (promises_.cutting && log_->head().op <= *promises_.cutting) settle_truncation();
  promises_.cutting.reset();
  promises_.acknowledged.clear();
  const auto replayed = log_->replay(log_->first_op(), [&](const entry::EntryView& view) -> Result<void> {
    promises_.acknowledged[view.header().op] = std::string(as_text(view.bytes()));
    promises_.durable = view.header().op;
    return {};
  });
  SLUICE_ASSERT(replayed.has_value(), "{}", replayed.error().to_string());
}

}  // namespace sluice::sim
