// SPDX-License-Identifier: Apache-2.0
#include "core/log/segment_reader.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::log {
namespace {

constexpr std::size_t kMagicAt = 64;  // of the entry header: what a candidate must have before anything is hashed

std::size_t window_for(std::uint64_t position, std::uint64_t end) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(kReadWindowBytes, end - std::min(position, end)));
}

}  // namespace

Result<void> SegmentReader::read_ahead(std::size_t want) {
  const std::uint64_t left = end_ - position_;
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(want, kReadWindowBytes), left));
  if (ahead().size() >= left) return {};
  if (size > capacity_) {
    window_ = make_page_memory(size + kPageBytes);
    capacity_ = size;
  }
  window_at_ = position_;
  window_bytes_ = 0;
  SLUICE_TRY(window_bytes_, file_.read(position_, {window_.get() + place_in_page(position_), size}));
  return {};
}

Result<SegmentReader::What> SegmentReader::next() {
  found_at_ = position_;
  if (position_ >= end_) return What::kEnd;
  if (ahead().size() < entry::kEntryHeaderBytes) SLUICE_CHECK(read_ahead(entry::kEntryHeaderBytes));
  auto verified = entry_.take_header(ahead());
  behind_damage_ = position_ + entry::kEntryAlignment;
  if (verified) {
    const std::size_t stored = entry_.header().stored_bytes();
    behind_damage_ = position_ + stored;
    if (ahead().size() < stored) SLUICE_CHECK(read_ahead(stored));
    verified = entry_.take_body(ahead());
    if (verified) {
      position_ += stored;
      return What::kEntry;
    }
  }
  damage_ = std::move(verified).error();
  return What::kDamage;
}

bool may_begin_entry(const std::byte* bytes) {
  return load_le<std::uint32_t>(bytes + kMagicAt) == entry::kEntryMagic;
}

Result<SurvivorResult> find_survivor(storage::File& file, std::uint64_t position, std::uint64_t end, const SurvivorSearch& search) {
  SurvivorResult result;
  std::uint64_t left = search.budget_bytes;
  const std::size_t window_bytes = window_for(position, end);
  const auto window = std::make_unique_for_overwrite<std::byte[]>(window_bytes);
  std::uint64_t at = round_up(position, entry::kEntryAlignment);
  while (at + entry::kEntryHeaderBytes <= end) {
    SLUICE_TRY(const std::size_t got,
               file.read(at, {window.get(), static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, end - at))}));
    if (got < entry::kEntryHeaderBytes) break;
    std::size_t i = 0;
    for (; i + entry::kEntryHeaderBytes <= got; i += entry::kEntryAlignment) {
      if (!may_begin_entry(window.get() + i)) continue;
      if (left < entry::kEntryHeaderBytes) {
        result.exhausted = true;
        return result;
      }
      left -= entry::kEntryHeaderBytes;
      const auto header = entry::decode_entry_header({window.get() + i, entry::kEntryHeaderBytes});
      if (!header || header->group != search.group || header->incarnation != search.incarnation || header->op <= search.after) continue;
      const std::size_t stored = header->stored_bytes();
      if (stored > end - (at + i)) continue;
      if (left < stored) {
        result.exhausted = true;
        return result;
      }
      left -= stored;
      SegmentReader reader(file, at + i, at + i + stored);
      SLUICE_TRY(const SegmentReader::What what, reader.next());
      if (what == SegmentReader::What::kEntry) {
        result.position = at + i;
        return result;
      }
    }
    at += i;
  }
  return result;
}

Result<bool> is_zero_range(storage::File& file, std::uint64_t position, std::uint64_t end) {
  const std::size_t window_bytes = window_for(position, end);
  const auto window = std::make_unique_for_overwrite<std::byte[]>(window_bytes);
  while (position < end) {
    SLUICE_TRY(const std::size_t got,
               file.read(position, {window.get(), static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, end - position))}));
    if (got == 0) return true;
    if (std::any_of(window.get(), window.get() + got, [](std::byte b) { return b != std::byte{0}; })) return false;
    position += got;
  }
  return true;
}

}  // namespace sluice::log
