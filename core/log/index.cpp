// SPDX-License-Identifier: Apache-2.0
#include "core/log/index.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/errc.hpp"
#include "core/log/segment_page.hpp"

namespace sluice::log {
namespace {

IndexEntry load_index_entry(const std::byte* at) {
  return {Op{load_le<std::uint64_t>(at)}, Offset{load_le<std::uint64_t>(at + 8)}, TimestampUs{load_le<std::int64_t>(at + 16)},
          load_le<std::uint64_t>(at + 24)};
}

// The last entry for which `before` holds, given that it holds for a prefix.
template <typename Before>
std::optional<IndexEntry> last_where(std::span<const IndexEntry> entries, Before before) {
  const auto after = std::partition_point(entries.begin(), entries.end(), before);
  if (after == entries.begin()) return std::nullopt;
  return *std::prev(after);
}

}  // namespace

void encode_index_entry(ByteVector& out, const IndexEntry& entry) {
  ByteWriter writer(out);
  writer.put(entry.op.value());
  writer.put(entry.offset.value());
  writer.put(entry.timestamp.value());
  writer.put(entry.position);
}

Result<Index> Index::parse(Bytes bytes) {
  if (bytes.size() % kIndexEntryBytes != 0)
    return fail(Errc::kDamagedSegment, fmt::format("an index of {} bytes ends inside an entry", bytes.size()));
  Index out;
  out.entries_.reserve(bytes.size() / kIndexEntryBytes);
  for (std::size_t at = 0; at < bytes.size(); at += kIndexEntryBytes) {
    const IndexEntry entry = load_index_entry(bytes.data() + at);
    const bool placed = SLUICE_MUTATED(kZeroIndexEntryTaken) || (entry.op.value() != 0 && entry.position >= kSegmentPageBytes);
    const bool ordered = SLUICE_MUTATED(kIndexOrderUnchecked) || out.entries_.empty() ||
                         (entry.op > out.entries_.back().op && entry.position > out.entries_.back().position &&
                          entry.offset >= out.entries_.back().offset && entry.timestamp > out.entries_.back().timestamp);
    if (!placed || !ordered)
      return fail(Errc::kDamagedSegment, fmt::format("index entry {} is zero or out of order", at / kIndexEntryBytes));
    out.entries_.push_back(entry);
  }
  return out;
}

std::optional<IndexEntry> Index::at_or_before(Op op) const {
  return last_where(entries_, [&](const IndexEntry& e) { return e.op <= op; });
}

// Several entries may begin at one offset (those without messages do not advance it): the first of them is the one to start at, and the
// entry before it may still reach across `offset`.
std::optional<IndexEntry> Index::at_or_before(Offset offset) const {
  const auto exact = std::partition_point(entries_.begin(), entries_.end(), [&](const IndexEntry& e) { return e.offset < offset; });
  if (exact != entries_.end() && exact->offset == offset) return *exact;
  if (exact == entries_.begin()) return std::nullopt;
  return *std::prev(exact);
}

std::optional<IndexEntry> Index::before(TimestampUs timestamp) const {
  return last_where(entries_, [&](const IndexEntry& e) { return e.timestamp < timestamp; });
}

}  // namespace sluice::log
