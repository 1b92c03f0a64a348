// SPDX-License-Identifier: Apache-2.0
#include "core/log/scrub.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/chain.hpp"
#include "core/log/errc.hpp"
#include "core/log/error_at.hpp"
#include "core/log/frontier.hpp"
#include "core/log/segment_reader.hpp"

namespace sluice::log {
namespace {

Error damage_at(const SealedSegment& segment, std::uint64_t position, const std::string& why) {
  return error_at(Errc::kScrubDamage, segment.path, position, why);
}

// The size of the file, its header page and both seals.
Result<void> check_page(storage::File& file, const SealedSegment& segment) {
  SLUICE_TRY(const std::uint64_t size, file.size());
  if (size != segment.bytes) {
    return fail(
        damage_at(segment, std::min(size, segment.bytes), fmt::format("the file has {} bytes, its seal says {}", size, segment.bytes)));
  }
  ByteVector page(kSegmentPageBytes);
  SLUICE_TRY(const std::size_t got, file.read(0, page));
  const auto decoded = decode_segment_page(Bytes(page).first(got));
  if (!decoded) return fail(damage_at(segment, 0, decoded.error().message()));
  if (*decoded != segment.page) return fail(damage_at(segment, 0, "the header page is of another segment"));
  const auto slots = read_slots(page, segment.page.first_op);
  const LogPoint end{segment.end, segment.bytes};
  if (!slots || !slots->both_sealed || slots->newest->durable != end)
    return fail(damage_at(segment, frontier_position(0), "the seal does not verify"));
  return {};
}

Result<void> check_entry(const SealedSegment& segment, const ScrubPlace& place, const entry::EntryHeader& header) {
  if (header.group != segment.page.group || header.incarnation != segment.page.incarnation) {
    return fail(damage_at(segment, place.position, fmt::format("an entry of group {}, incarnation {}", header.group, header.incarnation)));
  }
  if (const auto follows = check_follows(place.before, header); !follows)
    return fail(damage_at(segment, place.position, follows.error().message()));
  return {};
}

Result<void> check_entries(storage::File& file, const SealedSegment& segment, std::uint64_t bytes_max, ScrubStep& step) {
  SegmentReader reader(file, step.next.position, segment.bytes);
  while (step.bytes < bytes_max) {
    SLUICE_TRY(const SegmentReader::What what, reader.next());
    if (what == SegmentReader::What::kDamage) return fail(damage_at(segment, reader.position(), reader.damage().message()));
    if (what == SegmentReader::What::kEnd) {
      if (step.next.before != segment.end && !SLUICE_MUTATED(kScrubEndUnchecked))
        return fail(damage_at(segment, segment.bytes, fmt::format("the last entry is not op {}, which the seal names", segment.end.op)));
      step.at_end = true;
      return {};
    }
    const entry::EntryHeader& header = reader.entry().header();
    SLUICE_CHECK(check_entry(segment, step.next, header));
    step.bytes += header.stored_bytes();
    step.next.position += header.stored_bytes();
    step.next.before = head_after(header);
  }
  return {};
}

Result<void> run(storage::Storage& storage, const SealedSegment& segment, std::uint64_t bytes_max, ScrubStep& step) {
  SLUICE_TRY(const storage::FilePtr file, storage.open(segment.path, storage::OpenMode::kRead));
  const std::uint64_t left = segment.bytes - std::min(step.next.position, segment.bytes);
  if (!SLUICE_MUTATED(kScrubTrustsCache))
    file->forget_cached(step.next.position, std::min(left, std::max<std::uint64_t>(bytes_max, kReadWindowBytes)));
  if (step.next.position == 0) {
    SLUICE_CHECK(check_page(*file, segment));
    step.bytes = step.next.position = kSegmentPageBytes;
    step.next.before = head_before(segment.page);
  }
  return check_entries(*file, segment, bytes_max, step);
}

}  // namespace

Result<ScrubStep> scrub_segment(storage::Storage& storage, const SealedSegment& segment, const ScrubPlace& from, std::uint64_t bytes_max) {
  ScrubStep step;
  step.next = from;
  auto checked = run(storage, segment, bytes_max, step);
  if (checked) return step;
  Error error = std::move(checked).error();
  if (error.is(sluice::Errc::kNoSpace)) return fail(std::move(error));
  if (!error.is(Errc::kScrubDamage)) error = damage_at(segment, step.next.position, fmt::format("cannot be read: {}", error.message()));
  step.at_end = true;
  if (!SLUICE_MUTATED(kScrubDamagePassed)) step.damage = std::move(error);
  return step;
}

}  // namespace sluice::log
