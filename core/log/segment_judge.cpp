// SPDX-License-Identifier: Apache-2.0
#include "core/log/segment_judge.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/chain.hpp"
#include "core/log/error_at.hpp"
#include "core/log/index_check.hpp"
#include "core/log/segment_reader.hpp"

namespace sluice::log {
namespace {

std::unexpected<Error> refuse_at(Errc code, const std::string& path, std::uint64_t position, const std::string& why) {
  return fail(error_at(code, path, position, why));
}

Result<std::optional<Index>> load_index(storage::Storage& storage, const LogOptions& options, const SegmentCase& which,
                                        std::uint64_t file_bytes) {
  if (!which.has_index) return std::nullopt;
  const std::uint64_t bytes_max = (file_bytes / entry::kEntryHeaderBytes + 1) * kIndexEntryBytes;
  auto bytes = storage::read_file(storage, options.directory + "/" + index_name(which.first_op), bytes_max);
  if (!bytes) {
    if (bytes.error().is(sluice::Errc::kLimit)) return std::nullopt;
    return fail(std::move(bytes).error());
  }
  auto index = Index::parse(*bytes);
  if (!index) return std::nullopt;
  return std::move(*index);
}

void take_as_being_created(PlannedSegment& out, Bytes bytes) {
  out.page_missing = true;
  out.rebuild_index = true;
  out.segment.bytes = 0;
  out.set_aside_tail = std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  out.tail_reason = "the segment was being created";
}

// The last segment may exist without a whole header page: it was being created. Entries are written only after the page and its first slot
// are durable, so such a file has no byte beyond it. False: it was.
Result<bool> read_page(storage::File& file, const SegmentCase& which, PlannedSegment& out) {
  ByteVector buffer(kSegmentPageBytes);
  SLUICE_TRY(const std::size_t got, file.read(0, buffer));
  const Bytes bytes = Bytes(buffer).first(got);
  const bool may_be_new = which.last && out.file_bytes <= kSegmentPageBytes;
  auto page = decode_segment_page(bytes);
  if (!page) {
    const bool other_release = page.error().is(Errc::kNewerFormat) || page.error().is(Errc::kOlderFormat);
    if (other_release) return fail(std::move(page).error().with("segment", out.path));
    if (!may_be_new) return refuse_at(Errc::kDamagedSegment, out.path, 0, page.error().message());
    take_as_being_created(out, bytes);
    return false;
  }
  out.segment.page = *page;
  auto slots = read_slots(bytes, which.first_op);
  if (!slots) return fail(std::move(slots).error().with("segment", out.path));
  out.slots = *slots;
  if (out.slots.newest || !may_be_new || out.slots.damaged) return true;
  take_as_being_created(out, bytes);
  return false;
}

// What to make of bytes that do not verify, at the reader's position. In the last segment that depends on how the rest of the log is.
Result<void> note_damage(const SegmentCase& which, const SegmentReader& reader, PlannedSegment& out) {
  const Error& damage = reader.damage();
  const std::uint64_t position = reader.position();
  if (damage.is(entry::Errc::kNewerRelease)) return refuse_at(Errc::kNewerFormat, out.path, position, damage.message());
  // Its checksum holds, so no crash made it: it was written like this.
  if (damage.is(entry::Errc::kBadShape)) return refuse_at(Errc::kDamagedSegment, out.path, position, damage.message());
  if (!which.last)
    return refuse_at(Errc::kDamagedSegment, out.path, position, fmt::format("{}, and newer segments follow", damage.message()));
  // If the header verifies, the next entry can only begin behind its body: what looks like an entry inside is a record's payload.
  out.damage = TailDamage{reader.behind_damage(), damage.message()};
  return {};
}

Result<void> accept_entry(const LogOptions& options, const SegmentCase& which, const SegmentReader& reader, PlannedSegment& out) {
  const entry::EntryHeader& header = reader.entry().header();
  const bool foreign = header.group != options.group || header.incarnation != options.incarnation;
  if (foreign && !SLUICE_MUTATED(kForeignEntriesServed)) {
    return refuse_at(Errc::kForeignSegment, out.path, reader.position(),
                     fmt::format("an entry of group {}, incarnation {}", header.group, header.incarnation));
  }
  if (auto follows = check_follows(out.segment.end, header); !follows)
    return refuse_at(Errc::kHole, out.path, reader.position(), follows.error().message());
  if (header.has(entry::flag::kFirstOfSegment) != (header.op == which.first_op) && !SLUICE_MUTATED(kRollFlagUnchecked)) {
    return refuse_at(Errc::kHole, out.path, reader.position(),
                     fmt::format("op {} and the segment disagree on where the segment begins", header.op));
  }
  if (header.op == which.checkpoint_op) out.id_at_checkpoint = header.identity;
  if (options.witness && header.op == options.witness->op) out.id_at_witness = header.identity;
  if (header.op > which.checkpoint_op) out.bytes_after_checkpoint += header.stored_bytes();
  out.segment.end = head_after(header);
  return {};
}

// Whether the entry lies beyond what can ever have been acknowledged: of a flush that was not completed, or cut off by a truncation that
// was not. A slot that does not verify may have held a higher limit.
bool is_beyond_limit(const SegmentCase& which, const PlannedSegment& out, const entry::EntryHeader& header) {
  return which.last && !SLUICE_MUTATED(kBeyondLimitKept) && !out.slots.damaged && out.slots.newest &&
         !out.slots.newest->limit.covers(head_after(header));
}

// Where the frontier says that an entry ends, that entry must end there.
Result<void> check_frontier(const PlannedSegment& out, std::uint64_t position) {
  if (!out.slots.newest || position != out.slots.newest->durable.position) return {};
  const LogHead& durable = out.slots.newest->durable.head;
  if (out.segment.end == durable || SLUICE_MUTATED(kFrontierIdUnchecked)) return {};
  return refuse_at(Errc::kFsyncedLogLoss, out.path, position,
                   fmt::format("the frontier names op {} here, the segment holds another op {}", durable.op, out.segment.end.op));
}

// A complete segment ends where its seal says.
Result<void> check_end(const SegmentCase& which, const PlannedSegment& out) {
  const bool reached = !out.slots.newest || out.segment.bytes >= out.slots.newest->durable.position;
  if (which.last || !out.segment.has_entries() ||
      (reached && (!out.slots.sealed() || out.segment.bytes == out.slots.newest->durable.position)))
    return {};
  return refuse_at(Errc::kDamagedSegment, out.path, out.segment.bytes,
                   fmt::format("the segment ends here, and op {} ended at byte {}", out.slots.newest->durable.head.op,
                               out.slots.newest->durable.position));
}

// Tells whoever watches a start how far it is in one segment; in the end, that all of it is behind it.
class JudgedBytes {
 public:
  JudgedBytes(const LogOptions& options, std::uint64_t file_bytes) : counter_(options.judged_bytes), file_bytes_(file_bytes) {}
  ~JudgedBytes() { tell(file_bytes_); }
  JudgedBytes(const JudgedBytes&) = delete;
  JudgedBytes& operator=(const JudgedBytes&) = delete;

  void at(std::uint64_t position) {
    if (position - told_ >= kReadWindowBytes) tell(position);
  }

 private:
  void tell(std::uint64_t position) {
    if (counter_ != nullptr) counter_->fetch_add(position - told_, std::memory_order_relaxed);
    told_ = position;
  }

  std::atomic<std::uint64_t>* counter_;
  std::uint64_t file_bytes_;
  std::uint64_t told_ = 0;
};

// Checks every entry, and the index along with them.
Result<void> walk(storage::File& file, const LogOptions& options, const SegmentCase& which, IndexCheck& index, PlannedSegment& out) {
  SegmentReader reader(file, kSegmentPageBytes, out.file_bytes);
  JudgedBytes judged(options, out.file_bytes);
  while (true) {
    SLUICE_TRY(const SegmentReader::What what, reader.next());
    out.segment.bytes = std::min(reader.position(), out.file_bytes);
    judged.at(out.segment.bytes);
    SLUICE_CHECK(check_frontier(out, out.segment.bytes));
    if (what == SegmentReader::What::kEnd) return {};
    if (what == SegmentReader::What::kDamage) return note_damage(which, reader, out);
    if (is_beyond_limit(which, out, reader.entry().header())) {
      out.damage = TailDamage{out.file_bytes, "beyond everything that was acknowledged"};
      return {};
    }
    SLUICE_CHECK(accept_entry(options, which, reader, out));
    index.visit(reader.entry().header(), reader.position());
  }
}

// Whether the index begins with the segment and ends in it. What is between is for whoever reads by it: an index is no evidence.
Result<bool> index_spans_segment(storage::Storage& storage, const LogOptions& options, const SegmentCase& which, const LogPoint& end) {
  if (!which.has_index) return false;
  SLUICE_TRY(const storage::FilePtr file, storage.open(options.directory + "/" + index_name(which.first_op), storage::OpenMode::kRead));
  SLUICE_TRY(const std::uint64_t size, file->size());
  if (size < kIndexEntryBytes || size % kIndexEntryBytes != 0) return false;
  std::array<std::byte, kIndexEntryBytes> first;
  std::array<std::byte, kIndexEntryBytes> last;
  SLUICE_TRY(const std::size_t got_first, file->read(0, first));
  SLUICE_TRY(const std::size_t got_last, file->read(size - kIndexEntryBytes, last));
  if (got_first != kIndexEntryBytes || got_last != kIndexEntryBytes) return false;
  const auto from = Index::parse(first);
  const auto to = Index::parse(last);
  return from && to && from->entries().front().op == which.first_op && to->entries().front().op <= end.head.op &&
         to->entries().front().position < end.position;
}

}  // namespace

Result<PlannedSegment> judge_segment(storage::Storage& storage, const LogOptions& options, const SegmentCase& which) {
  PlannedSegment out;
  out.path = options.directory + "/" + segment_name(which.first_op);
  SLUICE_TRY(const storage::FilePtr file, storage.open(out.path, storage::OpenMode::kRead));
  SLUICE_TRY(out.file_bytes, file->size());
  out.segment.page.first_op = which.first_op;
  SLUICE_TRY(const bool has_page, read_page(*file, which, out));
  if (!has_page) return out;

  const SegmentPage& page = out.segment.page;
  if (page.group != options.group || page.incarnation != options.incarnation || page.first_op != which.first_op) {
    return refuse_at(Errc::kForeignSegment, out.path, 0,
                     fmt::format("the page is of group {}, incarnation {}, op {}", page.group, page.incarnation, page.first_op));
  }
  out.segment.end = head_before(page);
  SLUICE_TRY(auto stored_index, load_index(storage, options, which, out.file_bytes));
  IndexCheck index(std::move(stored_index), options.index_stride_bytes);
  if (auto walked = walk(*file, options, which, index, out); !walked) {
    if (!which.any_end || !is_lasting_refusal(walked.error())) return fail(std::move(walked).error());
    out.damage = TailDamage{out.segment.bytes, walked.error().message()};
  }
  SLUICE_CHECK(check_end(which, out));
  if (SLUICE_MUTATED(kCutBeforeVerdict))
    SLUICE_CHECK((*storage.open(out.path, storage::OpenMode::kReadWrite))->truncate(out.segment.bytes));
  out.index_contradicts = index.contradicts();
  IndexCheck::Verdict verdict = std::move(index).conclude(which.last);
  out.segment.index = std::move(verdict.index);
  out.rebuild_index = verdict.rebuild;
  out.missing_index_entries = std::move(verdict.missing);
  return out;
}

Result<std::optional<PlannedSegment>> judge_by_seal(storage::Storage& storage, const LogOptions& options, const SegmentCase& which) {
  PlannedSegment out;
  out.path = options.directory + "/" + segment_name(which.first_op);
  SLUICE_TRY(const storage::FilePtr file, storage.open(out.path, storage::OpenMode::kRead));
  SLUICE_TRY(out.file_bytes, file->size());
  ByteVector page(kSegmentPageBytes);
  SLUICE_TRY(const std::size_t got, file->read(0, page));
  auto decoded = decode_segment_page(Bytes(page).first(got));
  auto slots = decoded ? read_slots(page, which.first_op) : Result<SegmentSlots>(fail(decoded.error()));
  if (!slots || !(slots->both_sealed || (slots->sealed() && SLUICE_MUTATED(kHalfSealBelieved)))) return std::nullopt;
  const SegmentPage& found = out.segment.page = *decoded;
  const LogPoint& end = slots->newest->durable;
  const bool is_it = found.group == options.group && found.incarnation == options.incarnation && found.first_op == which.first_op;
  if (!is_it || (out.file_bytes != end.position && !SLUICE_MUTATED(kSealOfAnotherEndBelieved)) || end.head.op < found.first_op)
    return std::nullopt;
  // Its identity has to be known.
  const auto is_inside = [&](Op op) { return op >= found.first_op && op < end.head.op; };
  if (is_inside(which.checkpoint_op) || (options.witness && is_inside(options.witness->op))) return std::nullopt;
  SLUICE_TRY(const bool index_spans, index_spans_segment(storage, options, which, end));
  if (!index_spans) return std::nullopt;
  out.slots = *slots;
  out.segment.end = end.head;
  out.segment.bytes = end.position;
  out.segment.by_seal = true;
  if (end.head.op == which.checkpoint_op) out.id_at_checkpoint = end.head.id;
  if (options.witness && end.head.op == options.witness->op) out.id_at_witness = end.head.id;
  if (found.first_op > which.checkpoint_op) out.bytes_after_checkpoint = end.position - kSegmentPageBytes;
  return out;
}

}  // namespace sluice::log
