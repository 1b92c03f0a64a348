// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/chain.hpp"
#include "core/log/recovery_plan.hpp"
#include "core/log/segment_judge.hpp"

namespace sluice::log {
namespace {

constexpr std::uint64_t kMarkerBytesMax = 64u << 10;

std::unexpected<Error> refuse_log(Errc code, const LogOptions& options, std::string why) {
  return fail(Error(code, fmt::format("{}: {}", options.directory, why)).with("directory", options.directory));
}

// What a directory holds. Files that this release does not know are left alone.
struct Inventory {
  std::map<Op, bool> segments;  // first op → has an index
  std::vector<std::string> orphan_indexes;
  std::vector<std::string> staging;
  bool checkpoint = false;
  bool fenced = false;
};

Result<Inventory> take_inventory(const LogOptions& options, const std::vector<std::string>& names) {
  Inventory out;
  std::vector<Op> indexes;
  for (const std::string& name : names) {
    if (name == kFencedName) out.fenced = true;
    if (name == kCheckpointName) out.checkpoint = true;
    if (name.ends_with(storage::kStagingSuffix)) out.staging.push_back(name);
    if (name.ends_with(".log")) {
      const auto op = parse_segment_name(name, ".log");
      if (!op) return refuse_log(Errc::kForeignSegment, options, fmt::format("{} is not the name of a segment", name));
      out.segments.emplace(*op, false);
    }
    if (const auto op = parse_segment_name(name, ".index")) indexes.push_back(*op);
  }
  for (const Op op : indexes) {
    const auto segment = out.segments.find(op);
    if (segment == out.segments.end()) {
      out.orphan_indexes.push_back(index_name(op));
    } else {
      segment->second = true;
    }
  }
  return out;
}

// The marker holds the name of the refusal on its first line and the sentence after it.
std::unexpected<Error> standing_refusal(storage::Storage& storage, const LogOptions& options) {
  auto bytes = storage::read_file(storage, options.directory + "/" + kRefusedName, kMarkerBytesMax);
  if (!bytes)
    return refuse_log(Errc::kRefused, options,
                      fmt::format("refused at an earlier start; the marker cannot be read: {}", bytes.error().message()));
  const std::string_view text = as_text(*bytes);
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view why = text.substr(std::min(line + 1, text.size()));
  const std::size_t why_end = std::min(why.find('\n'), why.size());
  Error error(refusal_from_name(text.substr(0, line)), std::string(why.substr(0, why_end)));
  return fail(std::move(error).with("directory", options.directory).with("marker", kRefusedName));
}

Result<Checkpoint> load_checkpoint(storage::Storage& storage, const LogOptions& options) {
  const std::string path = options.directory + "/" + kCheckpointName;
  auto bytes = storage::read_file(storage, path, kCheckpointFileBytesMax);
  if (!bytes && bytes.error().is(sluice::Errc::kLimit)) return refuse_log(Errc::kDamagedCheckpoint, options, bytes.error().message());
  if (!bytes) return fail(std::move(bytes).error());
  auto checkpoint = decode_checkpoint(*bytes);
  if (!checkpoint) return fail(std::move(checkpoint).error().with("file", path));
  if (checkpoint->group != options.group || checkpoint->incarnation != options.incarnation) {
    return refuse_log(Errc::kForeignSegment, options,
                      fmt::format("the checkpoint is of group {}, incarnation {}", checkpoint->group, checkpoint->incarnation));
  }
  return checkpoint;
}

// A log without any segment is new, unless something shows that there was one.
Result<void> judge_absence(storage::Storage& storage, const LogOptions& options, const Inventory& inventory) {
  if (options.must_exist) return refuse_log(Errc::kHole, options, "the log was made before, but there is no segment");
  if (inventory.checkpoint) return refuse_log(Errc::kHole, options, "there is a checkpoint, but no segment");
  for (const std::string& name : inventory.orphan_indexes) {
    SLUICE_TRY(const storage::FilePtr file, storage.open(options.directory + "/" + name, storage::OpenMode::kRead));
    SLUICE_TRY(const std::uint64_t size, file->size());
    if (size != 0) return refuse_log(Errc::kHole, options, fmt::format("{} has entries, but there is no segment", name));
  }
  return {};
}

Result<void> judge_links(const LogOptions& options, std::vector<PlannedSegment>& segments) {
  for (std::size_t i = 1; i < segments.size(); ++i) {
    const RecoveredSegment& before = segments[i - 1].segment;
    PlannedSegment& here = segments[i];
    if (!before.has_entries() && !SLUICE_MUTATED(kEmptyMiddleServed))
      return refuse_log(Errc::kEmptyNonTailSegment, options, fmt::format("{} has no entries", segment_name(before.page.first_op)));
    const SegmentPage follows = page_after(before.end, options.group, options.incarnation);
    const SegmentPage expected = SLUICE_MUTATED(kChainUnchecked) ? here.segment.page : follows;
    if (here.segment.page.first_op != expected.first_op) {
      return refuse_log(Errc::kHole, options, fmt::format("{} follows op {}", segment_name(here.segment.page.first_op), before.end.op));
    }
    if (here.page_missing) {
      here.segment.page = expected;
      here.segment.end = before.end;
    } else if (here.segment.page != expected) {
      return refuse_log(Errc::kHole, options, fmt::format("{} does not continue the segment before it", segment_name(expected.first_op)));
    }
  }
  return {};
}

// The oldest segment begins the log, or continues what the checkpoint stands for.
Result<void> judge_start(const LogOptions& options, const std::optional<Checkpoint>& checkpoint, PlannedSegment& first) {
  const LogHead root = empty_head(options.group, options.incarnation);
  const SegmentPage root_page = page_after(root, options.group, options.incarnation);
  const Op first_op = first.segment.page.first_op;
  if (first.page_missing) {
    if (first_op != root_page.first_op)
      return refuse_log(Errc::kDamagedSegment, options,
                        fmt::format("{} has no header page, and no segment before it", segment_name(first_op)));
    if (options.must_exist)
      return refuse_log(Errc::kHole, options, fmt::format("the log was made before, but {} has no header page", segment_name(first_op)));
    first.segment.page = root_page;
    first.segment.end = root;
  }
  if (first_op == root_page.first_op && first.segment.page != root_page) {
    return refuse_log(Errc::kHole, options, "the first segment does not begin at the beginning");
  }
  const Op covered = checkpoint ? checkpoint->op : root.op;
  if (first_op > covered.next())
    return refuse_log(Errc::kHole, options,
                      fmt::format("the oldest segment begins at op {}, the checkpoint ends at op {}", first_op, covered));
  return {};
}

Result<void> judge_checkpoint(const LogOptions& options, const Checkpoint& checkpoint, const std::vector<PlannedSegment>& segments) {
  const LogHead& head = segments.back().segment.end;
  if (checkpoint.op > head.op && !SLUICE_MUTATED(kCheckpointPastHeadServed))
    return refuse_log(Errc::kCheckpointPastHead, options,
                      fmt::format("the checkpoint is at op {}, the log ends at op {}", checkpoint.op, head.op));
  std::optional<U128> id;
  if (checkpoint.op.next() == segments.front().segment.page.first_op) id = segments.front().segment.page.parent;
  for (const PlannedSegment& segment : segments) {
    if (segment.id_at_checkpoint) id = segment.id_at_checkpoint;
  }
  if (id != checkpoint.id)
    return refuse_log(Errc::kHole, options, fmt::format("the log holds another op {} than the checkpoint names", checkpoint.op));
  return {};
}

std::optional<std::chrono::microseconds> clock_behind(const LogOptions& options, const LogHead& head) {
  if (options.clock == nullptr) return std::nullopt;
  const std::int64_t now = options.clock->wall().value();
  const std::int64_t last = head.last_timestamp.value();
  if (last <= now || last - now <= kClockBehindMax.count()) return std::nullopt;
  return std::chrono::microseconds(last - now);
}

}  // namespace

Result<RecoveryPlan> judge(storage::Storage& storage, const LogOptions& options) {
  // Before everything else, so that nothing is ever created beside refused bytes.
  if (!SLUICE_MUTATED(kRefusalNotConsulted)) SLUICE_CHECK(judge_marker(storage, options));
  return judge_files(storage, options);
}

Result<void> judge_marker(storage::Storage& storage, const LogOptions& options) {
  const auto names = storage.list(options.directory);
  if (names && std::find(names->begin(), names->end(), kRefusedName) != names->end()) return standing_refusal(storage, options);
  return {};
}

std::uint64_t bytes_to_judge(storage::Storage& storage, const LogOptions& options) {
  const auto names = storage.list(options.directory);
  std::vector<std::string> segments;
  if (names) std::ranges::copy_if(*names, std::back_inserter(segments), [](const auto& name) { return name.ends_with(".log"); });
  if (!options.verify_sealed && !segments.empty()) segments.erase(segments.begin(), segments.end() - 1);
  std::uint64_t sum = 0;
  for (const std::string& name : segments) {
    const auto file = storage.open(options.directory + "/" + name, storage::OpenMode::kRead);
    if (file) sum += (*file)->size().value_or(0);
  }
  return sum;
}

Result<RecoveryPlan> judge_files(storage::Storage& storage, const LogOptions& options) {
  RecoveryPlan plan;
  auto names = storage.list(options.directory);
  if (!names) {
    if (!storage::is_absent(names.error())) return fail(std::move(names).error());
    if (options.must_exist && !SLUICE_MUTATED(kLostLogMadeAnew))
      return refuse_log(Errc::kHole, options, "the log was made before, but its directory is gone");
    plan.directory_missing = true;
    return plan;
  }
  SLUICE_TRY(Inventory inventory, take_inventory(options, *names));
  if (inventory.checkpoint) {
    SLUICE_TRY(plan.checkpoint, load_checkpoint(storage, options));
  }
  plan.stray_names = std::move(inventory.staging);
  if (inventory.fenced) {
    // What was written then may have looked durable to nobody but the cache.
    auto mark = storage::read_file(storage, options.directory + "/" + kFencedName, kMarkerBytesMax);
    plan.report.fence_mark = mark ? std::string(as_text(*mark)) : mark.error().message();
  }
  plan.stray_names.insert(plan.stray_names.end(), inventory.orphan_indexes.begin(), inventory.orphan_indexes.end());
  if (inventory.segments.empty()) {
    SLUICE_CHECK(judge_absence(storage, options, inventory));
    return plan;
  }
  if (inventory.segments.size() > 1) {
    const Op last = inventory.segments.rbegin()->first;
    SLUICE_TRY(const bool truncated, is_truncated_away(storage, options, std::next(inventory.segments.rbegin())->first, last));
    if (truncated) {
      plan.truncated_segment = last;
      inventory.segments.erase(last);
    }
  }
  const Op checkpoint_op = plan.checkpoint ? plan.checkpoint->op : Op{0};
  for (const auto& [first_op, has_index] : inventory.segments) {
    const bool last = first_op == inventory.segments.rbegin()->first;
    const SegmentCase which{first_op, last, has_index, checkpoint_op};
    std::optional<PlannedSegment> segment;
    if (!last && (!options.verify_sealed || SLUICE_MUTATED(kFullVerifyLeftOut))) {
      SLUICE_TRY(segment, judge_by_seal(storage, options, which));
    }
    if (!segment) {
      SLUICE_TRY(segment, judge_segment(storage, options, which));
    }
    plan.segments.push_back(*std::move(segment));
  }
  SLUICE_CHECK(judge_start(options, plan.checkpoint, plan.segments.front()));
  SLUICE_CHECK(judge_links(options, plan.segments));
  SLUICE_CHECK(judge_tail(storage, options, plan));
  if (plan.checkpoint) SLUICE_CHECK(judge_checkpoint(options, *plan.checkpoint, plan.segments));
  plan.report.clock_behind = clock_behind(options, plan.segments.back().segment.end);
  return plan;
}

}  // namespace sluice::log
