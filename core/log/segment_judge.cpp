// SPDX-License-Identifier: Apache-2.0
#include "core/log/segment_judge.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "core/log/chain.hpp"
#include "core/log/segment_reader.hpp"

namespace sluice::log {
namespace {

std::unexpected<Error> refuse_at(Errc code, const std::string& path, std::uint64_t position, const std::string& why) {
  return fail(
      Error(code, fmt::format("{} at byte {}: {}", path, position, why)).with("segment", path).with("position", std::to_string(position)));
}

// Compares the entries of an index file with the walk, and collects what a new one would hold.
class IndexCheck {
 public:
  IndexCheck(std::optional<Index> stored, std::uint64_t stride_bytes) : stored_(std::move(stored)), stride_bytes_(stride_bytes) {}

  void visit(const entry::EntryHeader& header, std::uint64_t position) {
    const IndexEntry here{header.op, header.base_offset, header.base_timestamp, position};
    if (due(fresh_, position)) fresh_.push_back(here);
    if (!stored_ || mismatch_) return;
    const auto entries = stored_->entries();
    if (matched_ < entries.size()) {
      if (entries[matched_].position < position) mismatch_ = true;
      if (entries[matched_].position != position) return;
      mismatch_ = mismatch_ || entries[matched_] != here;
      ++matched_;
      last_indexed_ = position;
      return;
    }
    if (position - last_indexed_ >= stride_bytes_) {
      missing_.push_back(here);
      last_indexed_ = position;
    }
  }

  // `last`: the active segment's index may end early, because a crash can come between the log and the index.
  void conclude(PlannedSegment& out, bool last) {
    const bool matches = stored_ && !mismatch_ && matched_ == stored_->entries().size() && (fresh_.empty() || !stored_->empty());
    out.rebuild_index = !matches || (!last && !missing_.empty());
    if (out.rebuild_index) {
      for (const IndexEntry& entry : fresh_) out.segment.index.add(entry);
      return;
    }
    out.segment.index = std::move(*stored_);
    for (const IndexEntry& entry : missing_) out.segment.index.add(entry);
    out.missing_index_entries = std::move(missing_);
  }

 private:
  [[nodiscard]] bool due(const std::vector<IndexEntry>& entries, std::uint64_t position) const {
    return entries.empty() || position - entries.back().position >= stride_bytes_;
  }

  std::optional<Index> stored_;  // none: absent or not decodable
  std::uint64_t stride_bytes_;
  std::size_t matched_ = 0;
  std::uint64_t last_indexed_ = kSegmentPageBytes;
  bool mismatch_ = false;
  std::vector<IndexEntry> missing_;
  std::vector<IndexEntry> fresh_;
};

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

// The last segment may exist without a whole header page: it was being created. Entries are written only after the page is durable, so
// such a file has no byte beyond it.
Result<bool> read_page(storage::File& file, const SegmentCase& which, PlannedSegment& out) {
  ByteVector bytes(kSegmentPageBytes);
  SLUICE_TRY(const std::size_t got, file.read(0, bytes));
  auto page = decode_segment_page(Bytes(bytes).first(got));
  if (page) {
    out.segment.page = *page;
    return true;
  }
  if (page.error().is(Errc::kNewerFormat)) return refuse_at(Errc::kNewerFormat, out.path, 0, page.error().message());
  if (!which.last || out.file_bytes > kSegmentPageBytes) return refuse_at(Errc::kDamagedSegment, out.path, 0, page.error().message());
  out.page_missing = true;
  out.rebuild_index = true;
  out.segment.bytes = 0;
  out.set_aside_tail =
      std::any_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(got), [](std::byte b) { return b != std::byte{0}; });
  out.tail_reason = "the segment was being created";
  return false;
}

// What to make of bytes that do not verify, at the reader's position.
Result<void> judge_damage(storage::File& file, const LogOptions& options, const SegmentCase& which, const SegmentReader::Step& step,
                          PlannedSegment& out) {
  const Error& damage = *step.damage;
  if (damage.is(entry::Errc::kNewerRelease)) return refuse_at(Errc::kNewerFormat, out.path, step.position, damage.message());
  // Its checksum holds, so no crash made it: it was written like this.
  if (damage.is(entry::Errc::kBadShape)) return refuse_at(Errc::kDamagedSegment, out.path, step.position, damage.message());
  if (!which.last)
    return refuse_at(Errc::kDamagedSegment, out.path, step.position, fmt::format("{}, and newer segments follow", damage.message()));

  SLUICE_TRY(const bool zeros, is_zero_range(file, step.position, out.file_bytes));
  if (zeros) {
    out.tail_reason = "zeros";
    return {};
  }
  // If the header verifies, the next entry can only begin behind its body: what looks like an entry inside is a record's payload.
  std::uint64_t search_from = step.position + entry::kEntryAlignment;
  if (step.header) search_from = step.position + step.header->stored_bytes();
  const SurvivorSearch search{options.group, options.incarnation, out.segment.end.op, options.survivor_budget_bytes};
  SLUICE_TRY(const SurvivorResult found, find_survivor(file, std::min(search_from, out.file_bytes), out.file_bytes, search));
  if (found.exhausted) {
    return refuse_at(
        Errc::kUnverifiedResidue, out.path, step.position,
        fmt::format("{}, and {} bytes follow that could not all be searched", damage.message(), out.file_bytes - step.position));
  }
  if (found.position) {
    return refuse_at(Errc::kSurvivorPastDamage, out.path, step.position,
                     fmt::format("{}, and a whole entry follows at byte {}", damage.message(), *found.position));
  }
  out.set_aside_tail = true;
  out.tail_reason = damage.message();
  return {};
}

Result<void> accept_entry(const LogOptions& options, const SegmentCase& which, const SegmentReader::Step& step, PlannedSegment& out) {
  const entry::EntryHeader& header = step.view.header();
  if (header.group != options.group || header.incarnation != options.incarnation) {
    return refuse_at(Errc::kForeignSegment, out.path, step.position,
                     fmt::format("an entry of group {}, incarnation {}", header.group, header.incarnation));
  }
  if (auto follows = check_follows(out.segment.end, header); !follows)
    return refuse_at(Errc::kHole, out.path, step.position, follows.error().message());
  if (header.has(entry::flag::kFirstOfSegment) != (header.op == which.first_op)) {
    return refuse_at(Errc::kHole, out.path, step.position,
                     fmt::format("op {} and the segment disagree on where the segment begins", header.op));
  }
  if (header.op == which.checkpoint_op) out.id_at_checkpoint = header.identity;
  if (header.op > which.checkpoint_op) out.bytes_after_checkpoint += header.stored_bytes();
  out.segment.end = head_after(header);
  return {};
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
  SegmentReader reader(*file, kSegmentPageBytes, out.file_bytes);
  while (true) {
    SLUICE_TRY(const SegmentReader::Step step, reader.next());
    out.segment.bytes = std::min(step.position, out.file_bytes);
    if (step.what == SegmentReader::What::kEnd) break;
    if (step.what == SegmentReader::What::kDamage) {
      SLUICE_CHECK(judge_damage(*file, options, which, step, out));
      break;
    }
    SLUICE_CHECK(accept_entry(options, which, step, out));
    index.visit(step.view.header(), step.position);
  }
  index.conclude(out, which.last);
  return out;
}

}  // namespace sluice::log
