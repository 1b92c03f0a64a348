// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/log/chain.hpp"
#include "core/log/recovery_plan.hpp"

namespace sluice::log {
namespace {

constexpr int kSetAsideMax = 1000;
constexpr std::size_t kCopyBytes = 1u << 20;

Result<void> copy_range(storage::File& from, std::uint64_t position, std::uint64_t end, storage::File& to) {
  ByteVector buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, end - position)));
  std::uint64_t written = 0;
  while (position < end) {
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - position));
    SLUICE_TRY(const std::size_t got, from.read(position, MutableBytes(buffer).first(want)));
    if (got == 0) break;
    SLUICE_CHECK(to.write(written, Bytes(buffer).first(got)));
    position += got;
    written += got;
  }
  return to.sync();
}

// Whether `copy` holds exactly the bytes [position, end) of `from`.
Result<bool> is_copy(storage::File& from, std::uint64_t position, std::uint64_t end, storage::File& copy) {
  SLUICE_TRY(const std::uint64_t size, copy.size());
  if (size != end - position) return false;
  ByteVector left(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, size)));
  ByteVector right(left.size());
  for (std::uint64_t at = 0; at < size; at += left.size()) {
    SLUICE_TRY(const std::size_t got, from.read(position + at, left));
    SLUICE_TRY(const std::size_t copied, copy.read(at, right));
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(left.size(), size - at));
    if (got < want || copied < want || !std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(want), right.begin()))
      return false;
  }
  return true;
}

struct SetAsidePlace {
  std::string path;
  bool holds_it = false;  // a start that failed later has put the same bytes there
};
// Names of bytes that were set aside are never reused: they may be all that is left of something.
Result<SetAsidePlace> set_aside_place(storage::Storage& storage, const PlannedSegment& planned, storage::File& from) {
  for (int i = 1; i <= kSetAsideMax; ++i) {
    std::string path = fmt::format("{}.cut-{}", planned.path, i);
    const auto file = storage.open(path, storage::OpenMode::kRead);
    if (!file && storage::is_absent(file.error())) return SetAsidePlace{std::move(path)};
    if (!file) return fail(file.error());
    SLUICE_TRY(const bool same, is_copy(from, planned.segment.bytes, planned.file_bytes, **file));
    if (same) return SetAsidePlace{std::move(path), true};
  }
  return fail(sluice::Errc::kLimit, fmt::format("{} has {} set-aside files; move them away", planned.path, kSetAsideMax));
}

Result<void> set_aside(storage::Storage& storage, const LogOptions& options, const PlannedSegment& planned, RecoveryReport& report) {
  SLUICE_TRY(const storage::FilePtr from, storage.open(planned.path, storage::OpenMode::kRead));
  SLUICE_TRY(const SetAsidePlace place, set_aside_place(storage, planned, *from));
  if (!place.holds_it) {
    const std::string staging = place.path + storage::kStagingSuffix;
    SLUICE_TRY(const storage::FilePtr to, storage.open(staging, storage::OpenMode::kReplace));
    SLUICE_CHECK(copy_range(*from, planned.segment.bytes, planned.file_bytes, *to));
    SLUICE_CHECK(storage.rename(staging, place.path));
  }
  SLUICE_CHECK(storage.sync_directory(options.directory));
  report.cut =
      RecoveryReport::Cut{planned.path, planned.segment.bytes, planned.file_bytes - planned.segment.bytes, place.path, planned.tail_reason};
  return {};
}

Result<void> write_index(storage::Storage& storage, const LogOptions& options, const PlannedSegment& planned) {
  ByteVector bytes;
  for (const IndexEntry& entry : planned.segment.index.entries()) encode_index_entry(bytes, entry);
  return storage::replace_file(storage, options.directory, index_name(planned.segment.page.first_op), bytes);
}

// The index first, then the log: an index that ends early is harmless at any moment in between, one that reaches too far is rebuilt.
Result<void> mend_segment(storage::Storage& storage, const LogOptions& options, PlannedSegment& planned, RecoveryReport& report) {
  if (planned.set_aside_tail) SLUICE_CHECK(set_aside(storage, options, planned, report));
  if (planned.rebuild_index) {
    SLUICE_CHECK(write_index(storage, options, planned));
    if (planned.segment.has_entries()) ++report.indexes_rebuilt;
  }
  if (planned.file_bytes == planned.segment.bytes && !planned.page_missing) return {};
  SLUICE_TRY(const storage::FilePtr log, storage.open(planned.path, storage::OpenMode::kReadWrite));
  if (planned.page_missing) {
    SLUICE_CHECK(log->write(0, encode_first_page(planned.segment.page, *planned.slots.newest)));
    planned.segment.bytes = kSegmentPageBytes;
  }
  SLUICE_CHECK(log->truncate(planned.segment.bytes));
  return log->sync();
}

// The frontier of a segment whose page is written anew: nothing is in it, all before it is durable, and the limit stands.
Frontier first_frontier(const RecoveredSegment& segment, const std::optional<Frontier>& before) {
  Frontier out;
  out.sequence = before ? before->sequence + 1 : 1;
  out.epoch = before ? before->epoch : 0;
  out.segment = segment.page.first_op;
  out.durable = {segment.end, kSegmentPageBytes};
  out.limit = before ? before->limit : Limit{segment.end.op, segment.end.next_offset};
  return out;
}

Result<void> rewrite_range(storage::File& log, std::uint64_t position, std::uint64_t end) {
  ByteVector buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, end - position)));
  while (position < end) {
    const MutableBytes want = MutableBytes(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - position)));
    SLUICE_TRY(const std::size_t got, log.read(position, want));
    if (got != want.size())
      return fail(sluice::Errc::kIo, fmt::format("{} ends at byte {}, and it was longer a moment ago", log.path(), position + got));
    SLUICE_CHECK(log.write(position, Bytes(want)));
    position += want.size();
  }
  return {};
}

// A sync that failed leaves bytes that can be read, count as clean, and are not on the device: only what is written again gets there.
Result<void> rewrite_unproven(storage::File& log, const PlannedSegment& active, RecoveryReport& report) {
  // Once something in it is durable, a sync of the file has proved the page.
  const std::uint64_t durable = active.slots.newest->durable.position;
  const bool proved = report.clean && durable > kSegmentPageBytes && !report.fence_mark;
  if (active.page_missing || report.created || proved) return {};
  SLUICE_CHECK(rewrite_range(log, 0, kSegmentPageBytes));
  SLUICE_CHECK(rewrite_range(log, durable, active.segment.bytes));
  report.bytes_rewritten = active.segment.bytes - durable;
  return {};
}

// Everything in it was durable before its successor was created.
Result<void> seal_segment(storage::Storage& storage, const PlannedSegment& planned) {
  if (planned.slots.both_sealed) return {};
  const ByteVector seal = encode_frontier(seal_of(planned.segment.page.first_op, {planned.segment.end, planned.segment.bytes}));
  SLUICE_TRY(const storage::FilePtr log, storage.open(planned.path, storage::OpenMode::kReadWrite));
  for (std::size_t slot = 0; slot < kFrontierSlots; ++slot) {
    SLUICE_CHECK(log->write(frontier_position(slot), seal));
    SLUICE_CHECK(log->sync());
  }
  return {};
}

Result<void> create_first_segment(storage::Storage& storage, const LogOptions& options, RecoveryPlan& plan) {
  SLUICE_CHECK(storage.make_directories(options.directory));
  PlannedSegment first;
  first.segment.end = empty_head(options.group, options.incarnation);
  first.segment.page = page_after(first.segment.end, options.group, options.incarnation);
  first.segment.bytes = kSegmentPageBytes;
  first.path = options.directory + "/" + segment_name(first.segment.page.first_op);
  first.file_bytes = kSegmentPageBytes;
  first.slots.newest = first_frontier(first.segment, std::nullopt);
  SLUICE_TRY(const storage::FilePtr log, storage.open(first.path, storage::OpenMode::kCreateNew));
  SLUICE_CHECK(log->write(0, encode_first_page(first.segment.page, *first.slots.newest)));
  SLUICE_CHECK(log->sync());
  SLUICE_CHECK(write_index(storage, options, first));
  plan.segments.push_back(std::move(first));
  plan.report.created = true;
  plan.report.clean = true;
  return {};
}

}  // namespace

Result<RecoveredLog> commit_plan(storage::Storage& storage, const LogOptions& options, RecoveryPlan plan) {
  // Their reason to be is gone, whatever the plan does next; a staging file may even be in its way.
  for (const std::string& name : plan.stray_names) SLUICE_CHECK(storage.remove(options.directory + "/" + name));
  if (plan.segments.empty()) SLUICE_CHECK(create_first_segment(storage, options, plan));
  PlannedSegment& active = plan.segments.back();
  if (active.page_missing) active.slots = {.newest = first_frontier(active.segment, plan.frontier)};

  RecoveredLog out;
  for (PlannedSegment& planned : plan.segments) {
    SLUICE_CHECK(mend_segment(storage, options, planned, plan.report));
    ++plan.report.segments;
    if (planned.segment.has_entries()) plan.report.entries += planned.segment.end.op - planned.segment.page.first_op + 1;
    plan.report.bytes_verified += planned.segment.bytes;
    out.bytes_after_checkpoint += planned.bytes_after_checkpoint;
  }
  SLUICE_TRY(out.active_log, storage.open(active.path, storage::OpenMode::kReadWrite));
  SLUICE_TRY(out.active_index,
             storage.open(options.directory + "/" + index_name(active.segment.page.first_op), storage::OpenMode::kReadWrite));
  SLUICE_TRY(const std::uint64_t log_bytes, out.active_log->size());
  if (log_bytes != active.segment.bytes) {
    return fail(sluice::Errc::kInternal,
                fmt::format("{} has {} bytes where recovery left {}", active.path, log_bytes, active.segment.bytes));
  }
  if (!active.missing_index_entries.empty()) {
    ByteVector bytes;
    for (const IndexEntry& entry : active.missing_index_entries) encode_index_entry(bytes, entry);
    const std::size_t kept = active.segment.index.entries().size() - active.missing_index_entries.size();
    SLUICE_CHECK(out.active_index->write(kept * kIndexEntryBytes, bytes));
    plan.report.index_entries_added += active.missing_index_entries.size();
  }
  // The entries found here count as acknowledged from now on, also those that a killed process had written but not synced. So do names:
  // a process killed between creating a file and syncing the directory leaves one that only the cache knows.
  SLUICE_CHECK(rewrite_unproven(*out.active_log, active, plan.report));
  SLUICE_CHECK(out.active_log->sync());
  SLUICE_CHECK(storage.sync_directory(options.directory));
  for (std::size_t i = 0; i + 1 < plan.segments.size(); ++i) SLUICE_CHECK(seal_segment(storage, plan.segments[i]));
  if (plan.report.fence_mark) {
    SLUICE_CHECK(storage.remove(options.directory + "/" + kFencedName));
    SLUICE_CHECK(storage.sync_directory(options.directory));
  }

  out.frontier = *active.slots.newest;
  out.frontier_slot = active.slots.slot;
  for (PlannedSegment& planned : plan.segments) out.segments.push_back(std::move(planned.segment));
  out.checkpoint = std::move(plan.checkpoint);
  out.report = std::move(plan.report);
  return out;
}

Result<RecoveredLog> recover(storage::Storage& storage, const LogOptions& options) {
  auto plan = judge(storage, options);
  if (plan) return commit_plan(storage, options, std::move(*plan));
  // A marker that cannot be written is no loss: the same bytes are refused again.
  const Error& error = plan.error();
  const bool stands = is_lasting_refusal(error);
  const bool recorded =
      std::any_of(error.context().begin(), error.context().end(), [](const auto& item) { return item.first == "marker"; });
  if (stands && !recorded) {
    const std::string text = fmt::format("{}\n{}\n\n{}\nThe files here were left as they are. Remove this file when they are repaired.\n",
                                         error.code(), error.message(), error.explanation());
    if (auto written = storage::replace_file(storage, options.directory, kRefusedName, as_bytes(text)); !written) {
      return fail(std::move(plan).error().with("marker_not_written", written.error().message()));
    }
  }
  return fail(std::move(plan).error());
}

}  // namespace sluice::log
