// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/log/chain.hpp"
#include "core/log/frontier_writer.hpp"
#include "core/log/recovery_plan.hpp"
#include "core/log/repair.hpp"
#include "core/log/repair_record.hpp"
#include "core/log/segment_judge.hpp"
#include "core/log/segment_reader.hpp"

namespace sluice::log {
namespace {

std::unexpected<Error> not_repairable(const LogOptions& options, std::string why) {
  return fail(Error(Errc::kNotRepairable, fmt::format("{}: {}", options.directory, why)).with("directory", options.directory));
}

void raise(Limit& limit, const Limit& to) {
  limit = {std::max(limit.op, to.op), std::max(limit.offset, to.offset)};
}

// Finds how far the log verifies, what of it can be served, and which offsets may have been given out.
class Planner {
 public:
  Planner(storage::Storage& storage, const LogOptions& options) : storage_(storage), options_(options) {}

  Result<RepairPlan> run(Error refusal) {
    plan_.refusal = std::move(refusal);
    SLUICE_CHECK(take_inventory());
    SLUICE_CHECK(note_limits());
    SLUICE_CHECK(find_end());
    SLUICE_CHECK(match_checkpoint());
    SLUICE_CHECK(look_behind_end());
    move_segments_from(kept_.size(), why_);
    for (const std::string& name : misnamed_) move(name, "it is not the name of a segment");
    settle();
    return std::move(plan_);
  }

 private:
  Result<void> take_inventory() {
    const auto names = storage_.list(options_.directory);
    if (!names && storage::is_absent(names.error())) return not_repairable(options_, "the directory is gone");
    if (!names) return fail(names.error());
    // An interrupted repair may have moved away the only slot that had the limit; it had written it down before.
    SLUICE_TRY(const RepairRecord record, read_repairs(storage_, options_.directory));
    raise(plan_.limit, record.limit);
    goes_on_ = record.pending;
    for (const std::string& name : *names) {
      if (name == kCheckpointName) SLUICE_CHECK(load_checkpoint());
      if (const auto op = parse_segment_name(name, ".index")) has_index_[*op] = true;
      if (!name.ends_with(".log")) continue;
      const auto op = parse_segment_name(name, ".log");
      if (op) ops_.push_back(*op);
      if (!op) misnamed_.push_back(name);
    }
    std::sort(ops_.begin(), ops_.end());
    if (!ops_.empty() || checkpoint_ || goes_on_) return {};
    return not_repairable(options_, "neither a segment nor a checkpoint is left, so nothing says which offsets were given out");
  }

  Result<void> load_checkpoint() {
    auto bytes = storage::read_file(storage_, options_.directory + "/" + kCheckpointName, kCheckpointFileBytesMax);
    if (!bytes && !bytes.error().is(sluice::Errc::kLimit)) return fail(std::move(bytes).error());
    auto found = bytes ? decode_checkpoint(*bytes) : Result<Checkpoint>(fail(Errc::kDamagedCheckpoint, "it is too large"));
    if (!found && found.error().is(Errc::kNewerFormat)) return not_repairable(options_, found.error().message());
    if (found && (found->group != options_.group || found->incarnation != options_.incarnation))
      found = fail(Errc::kForeignSegment, "it is of another group");
    if (!found) {
      move(kCheckpointName, found.error().message());
      return {};
    }
    checkpoint_ = *std::move(found);
    raise(plan_.limit, {checkpoint_->op, checkpoint_->next_offset});
    return {};
  }

  // Whatever the pages are worth: each slot that verifies was true.
  Result<void> note_limits() {
    for (const Op op : ops_) {
      const bool last = op == ops_.back();
      SLUICE_TRY(const storage::FilePtr file, storage_.open(path_of(op), storage::OpenMode::kRead));
      ByteVector page(kSegmentPageBytes);
      SLUICE_TRY(const std::size_t got, file->read(0, page));
      std::fill(page.begin() + static_cast<std::ptrdiff_t>(got), page.end(), std::byte{0});
      SLUICE_TRY(const SegmentSlots slots, read_slots(page, op));
      if (slots.newest) note(*slots.newest);
      if (last && slots.sealed() && !goes_on_)
        return not_repairable(options_,
                              fmt::format("{} was complete, so there was a newer segment: it is missing, and with it what says which "
                                          "offsets were given out",
                                          segment_name(op)));
      if (last && (slots.damaged || !slots.newest)) SLUICE_CHECK(bound_lost_limit(*file));
    }
    return {};
  }

  void note(const Frontier& frontier) {
    raise(plan_.limit, frontier.limit);
    plan_.frontier.sequence = std::max(plan_.frontier.sequence, frontier.sequence);
    plan_.frontier.epoch = std::max(plan_.frontier.epoch, frontier.epoch);
    newest_timestamp_ = std::max(newest_timestamp_, frontier.durable.head.last_timestamp);
  }

  // Of the last segment a slot is lost: no more can have been acknowledged than was in the file and one reservation.
  Result<void> bound_lost_limit(storage::File& file) {
    SLUICE_TRY(const std::uint64_t size, file.size());
    ByteVector window(kReadWindowBytes);
    for (std::uint64_t at = 0; at < size; at += window.size() - entry::kEntryHeaderBytes) {
      SLUICE_TRY(const std::size_t got, file.read(at, window));
      for (std::size_t i = 0; i + entry::kEntryHeaderBytes <= got; i += entry::kEntryAlignment) {
        if (!may_begin_entry(window.data() + i)) continue;
        const auto header = entry::decode_entry_header({window.data() + i, entry::kEntryHeaderBytes});
        if (header && header->group == options_.group && header->incarnation == options_.incarnation)
          raise(plan_.limit, {header->op, header->next_offset});
      }
    }
    plan_.limit.offset = plan_.limit.offset + size / entry::kMessageHeaderBytes;
    plan_.limit.op = plan_.limit.op + size / entry::kEntryHeaderBytes;
    plan_.limit = after_largest_step(plan_.limit);
    return {};
  }

  // The segments that continue each other, up to the first byte that does not.
  Result<void> find_end() {
    for (const Op op : ops_) {
      const SegmentCase which{op, true, false, checkpoint_ ? checkpoint_->op : Op{0}, true};
      auto judged = judge_segment(storage_, options_, which);
      if (!judged && !is_refusal(judged.error())) return fail(std::move(judged).error());
      if (!judged && !is_lasting_refusal(judged.error())) return not_repairable(options_, judged.error().message());
      why_ = judged ? why_not_next(*judged) : judged.error().message();
      if (!why_.empty()) return {};
      kept_.push_back(*std::move(judged));
      newest_timestamp_ = std::max(newest_timestamp_, kept_.back().segment.end.last_timestamp);
      why_ = why_last(kept_.back());
      if (!why_.empty()) return {};
    }
    return {};
  }

  std::string why_not_next(const PlannedSegment& here) const {
    const Op first_op = here.segment.page.first_op;
    if (here.page_missing) return fmt::format("{} has no header page", segment_name(first_op));
    if (!kept_.empty()) {
      if (here.segment.page == page_after(kept_.back().segment.end, options_.group, options_.incarnation)) return {};
      return fmt::format("{} does not continue the segment before it", segment_name(first_op));
    }
    const SegmentPage root = page_after(empty_head(options_.group, options_.incarnation), options_.group, options_.incarnation);
    if (first_op == root.first_op) return here.segment.page == root ? "" : "the first segment does not begin at the beginning";
    if (checkpoint_ && first_op <= checkpoint_->op.next()) return {};
    return fmt::format("{} is the oldest segment, and what lies before it is missing", segment_name(first_op));
  }

  static std::string why_last(const PlannedSegment& here) {
    if (here.damage) return here.damage->what;
    if (!here.segment.has_entries()) return fmt::format("{} has no entries", segment_name(here.segment.page.first_op));
    if (here.slots.newest && here.slots.newest->durable.position > here.segment.bytes)
      return fmt::format("{} ends before byte {}", segment_name(here.segment.page.first_op), here.slots.newest->durable.position);
    return {};
  }

  // The state of the group is rebuilt from a checkpoint that the log holds, or from its beginning; else only the state is left.
  Result<void> match_checkpoint() {
    const bool from_beginning = !kept_.empty() && kept_.front().segment.page.first_op == Op{1};
    if (checkpoint_) {
      if (holds_checkpoint()) return {};
      if (from_beginning) {
        move(kCheckpointName, "the log that is left ends before it, and is read from its beginning");
        return {};
      }
      if (!kept_.empty())
        why_ = fmt::format(
            "the log that is left ends before its checkpoint at op {}, and does not reach back to its "
            "beginning; {}",
            checkpoint_->op, why_);
      kept_.clear();
      return {};
    }
    if (from_beginning || (kept_.empty() && (ops_.empty() || ops_.front() == Op{1}))) return {};
    return not_repairable(options_, "no checkpoint verifies, and the log does not reach back to its beginning");
  }

  bool holds_checkpoint() const {
    if (kept_.empty() || checkpoint_->op > kept_.back().segment.end.op) return false;
    std::optional<U128> id;
    if (checkpoint_->op.next() == kept_.front().segment.page.first_op) id = kept_.front().segment.page.parent;
    for (const PlannedSegment& segment : kept_) {
      if (segment.id_at_checkpoint) id = segment.id_at_checkpoint;
    }
    return id == checkpoint_->id;
  }

  Result<void> look_behind_end() {
    if (kept_.empty()) return {};
    const PlannedSegment& last = kept_.back();
    SLUICE_TRY(const storage::FilePtr file, storage_.open(last.path, storage::OpenMode::kRead));
    SLUICE_TRY(ends_in_zeros_, is_zero_range(*file, last.segment.bytes, last.file_bytes));
    return {};
  }

  void move(const std::string& name, const std::string& why) {
    plan_.move.push_back(name);
    plan_.steps.push_back(fmt::format("{} is set aside: {}", name, why));
  }
  void move_segments_from(std::size_t first, const std::string& why) {
    for (std::size_t i = first; i < ops_.size(); ++i) {
      move(segment_name(ops_[i]), i == first ? why : "it lies behind the damage");
      if (has_index_.contains(ops_[i])) plan_.move.push_back(index_name(ops_[i]));
    }
  }

  // What will be the last segment, and its slot.
  void settle() {
    if (kept_.empty()) {
      plan_.fresh = true;
      plan_.head = empty_head(options_.group, options_.incarnation);
      if (checkpoint_) plan_.head = {checkpoint_->op, checkpoint_->id, checkpoint_->next_offset, newest_timestamp_};
      plan_.page = page_after(plan_.head, options_.group, options_.incarnation);
      plan_.steps.push_back(fmt::format("{} is made, without entries", segment_name(plan_.page.first_op)));
    } else {
      const PlannedSegment& last = kept_.back();
      plan_.head = last.segment.end;
      plan_.page = last.segment.page;
      // Zeros are what was written ahead: the next start cuts them off.
      if (!ends_in_zeros_ && last.file_bytes > last.segment.bytes) {
        plan_.cut = FileRange{last.path, last.segment.bytes, last.file_bytes};
        plan_.steps.push_back(fmt::format("{}: {} bytes from byte {} on are copied to a file beside it and cut off: {}",
                                          segment_name(plan_.page.first_op), last.file_bytes - last.segment.bytes, last.segment.bytes,
                                          why_));
      }
    }
    raise(plan_.limit, {plan_.head.op, plan_.head.next_offset});
    plan_.frontier.sequence += 2;  // a lost one may have been the next
    plan_.frontier.segment = plan_.page.first_op;
    plan_.frontier.durable = {plan_.head, kept_.empty() ? kSegmentPageBytes : kept_.back().segment.bytes};
    plan_.frontier.limit = plan_.limit;
    plan_.steps.push_back(fmt::format("the log goes on after op {}: offsets {} to {} may have been given out and become a gap",
                                      plan_.head.op, plan_.head.next_offset, plan_.limit.offset));
  }

  std::string path_of(Op op) const { return options_.directory + "/" + segment_name(op); }

  storage::Storage& storage_;
  const LogOptions& options_;
  RepairPlan plan_;
  bool goes_on_ = false;  // after an interruption
  bool ends_in_zeros_ = false;
  std::vector<Op> ops_;
  std::map<Op, bool> has_index_;
  std::vector<std::string> misnamed_;
  std::optional<Checkpoint> checkpoint_;
  std::vector<PlannedSegment> kept_;
  std::string why_;  // nothing is kept after the last of them
  TimestampUs newest_timestamp_;
};

}  // namespace

Result<RepairPlan> plan_repair(storage::Storage& storage, const LogOptions& options) {
  RepairPlan out;
  if (auto marker = judge_marker(storage, options); !marker) out.refusal = std::move(marker).error();
  auto judged = judge_files(storage, options);
  if (judged) {
    if (!out.refusal) return out;
    // Half of a repair may look like a log, but without its limit.
    SLUICE_TRY(const RepairRecord record, read_repairs(storage, options.directory));
    if (record.pending) return Planner(storage, options).run(*std::move(out.refusal));
    out.only_marker = true;
    out.steps.emplace_back("the refusal is set aside: the files as they are would be accepted");
    return out;
  }
  if (!is_refusal(judged.error())) return fail(std::move(judged).error());
  if (!is_lasting_refusal(judged.error())) return not_repairable(options, judged.error().message());
  if (options.group == kMetadataGroup)
    return not_repairable(options,
                          fmt::format("without its end the catalog does not know the topics that are there; {}", judged.error().message()));
  return Planner(storage, options).run(out.refusal ? *std::move(out.refusal) : std::move(judged).error());
}

}  // namespace sluice::log
