// SPDX-License-Identifier: Apache-2.0
#include "core/log/repair.hpp"

#include "core/log/recovery_plan.hpp"
#include "core/log/repair_record.hpp"

namespace sluice::log {
namespace {

Result<void> cut(storage::Storage& storage, const LogOptions& options, const FileRange& range) {
  SLUICE_CHECK(copy_aside(storage, options.directory, range));
  SLUICE_TRY(const storage::FilePtr log, storage.open(range.path, storage::OpenMode::kReadWrite));
  SLUICE_CHECK(log->truncate(range.position));
  return log->sync();
}

// Into both slots, as a seal in one of them would count.
Result<void> write_slots(storage::Storage& storage, const std::string& path, Frontier frontier) {
  SLUICE_TRY(const storage::FilePtr log, storage.open(path, storage::OpenMode::kReadWrite));
  for (std::size_t slot = 0; slot < kFrontierSlots; ++slot) {
    SLUICE_CHECK(log->write(frontier_position(slot), encode_frontier(frontier)));
    ++frontier.sequence;
  }
  return log->sync();
}

Result<void> make_segment(storage::Storage& storage, const std::string& path, const RepairPlan& plan) {
  SLUICE_TRY(const storage::FilePtr log, storage.open(path, storage::OpenMode::kCreateNew));
  SLUICE_CHECK(log->write(0, encode_first_page(plan.page, plan.frontier)));
  return log->sync();
}

}  // namespace

Result<void> carry_out(storage::Storage& storage, const LogOptions& options, const RepairPlan& plan) {
  if (!plan.refusal) return {};
  // From here on no start takes the directory for anything but refused, wherever this ends.
  SLUICE_CHECK(record_refusal(storage, options, *plan.refusal));
  // Before anything else: also the limit, whose slot is about to be set aside.
  SLUICE_CHECK(record_begin(storage, options.directory, *plan.refusal, plan.steps, plan.limit));
  // The newest first: what is left after an interruption begins as before.
  for (auto name = plan.move.rbegin(); name != plan.move.rend(); ++name) SLUICE_CHECK(move_aside(storage, options.directory + "/" + *name));
  SLUICE_CHECK(storage.sync_directory(options.directory));
  if (plan.cut) SLUICE_CHECK(cut(storage, options, *plan.cut));
  if (!plan.only_marker) {
    const std::string last = options.directory + "/" + segment_name(plan.page.first_op);
    SLUICE_CHECK(plan.fresh ? make_segment(storage, last, plan) : write_slots(storage, last, plan.frontier));
  }
  SLUICE_CHECK(storage.sync_directory(options.directory));
  SLUICE_CHECK(record_done(storage, options.directory));
  SLUICE_CHECK(move_aside(storage, options.directory + "/" + kRefusedName));
  return storage.sync_directory(options.directory);
}

}  // namespace sluice::log
