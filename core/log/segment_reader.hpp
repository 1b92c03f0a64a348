// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/log/read_buffers.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

inline constexpr std::size_t kReadWindowBytes = 512u << 10;

// Walks the entries of one segment file in order and verifies each. Reads a window at a time; an entry's view is valid until the next
// call. One owner, blocking.
class SegmentReader {
 public:
  enum class What : std::uint8_t { kEntry, kEnd, kDamage };

  // Entries in [position, end) of the file.
  SegmentReader(storage::File& file, std::uint64_t position, std::uint64_t end) : file_(file), position_(position), end_(end) {}

  // Looks at what comes next. After kDamage or kEnd it stays there. Errors: I/O.
  [[nodiscard]] Result<What> next();
  // Where that begins.
  [[nodiscard]] std::uint64_t position() const { return found_at_; }
  // After kEntry, until the call after it.
  [[nodiscard]] const entry::EntryView& entry() const { return entry_; }
  // After kDamage.
  [[nodiscard]] const Error& damage() const { return *damage_; }
  // After kDamage: where the next entry could begin at the earliest. If the header verifies, behind its body.
  [[nodiscard]] std::uint64_t behind_damage() const { return behind_damage_; }

 private:
  // What the window has at the position.
  [[nodiscard]] Bytes ahead() const {
    if (position_ < window_at_ || position_ - window_at_ >= window_bytes_) return {};
    const auto skip = static_cast<std::size_t>(position_ - window_at_);
    return {window_.get() + place_in_page(window_at_) + skip, window_bytes_ - skip};
  }
  // Moves the window so that it has at least `want` bytes at the position, or what the file has.
  [[nodiscard]] Result<void> read_ahead(std::size_t want);

  storage::File& file_;
  std::uint64_t position_;
  std::uint64_t end_;
  PageMemory window_;
  std::size_t capacity_ = 0;
  std::uint64_t window_at_ = 0;  // file position of the window's first byte
  std::size_t window_bytes_ = 0;
  std::uint64_t found_at_ = 0;
  std::uint64_t behind_damage_ = 0;
  entry::EntryView entry_;
  std::optional<Error> damage_;
};

// Whether kEntryHeaderBytes of these bytes are worth a checksum.
[[nodiscard]] bool may_begin_entry(const std::byte* bytes);

// Looks for a whole entry of this group with an op above `after`, from `position` to the end of the file: proof that what lies before it is
// damage and not the torn end of a crash. Entries lie at multiples of 8. Charges every byte it hashes to `budget_bytes`.
struct SurvivorSearch {
  GroupId group;
  Incarnation incarnation;
  Op after;
  std::uint64_t budget_bytes = 0;
};
struct SurvivorResult {
  bool exhausted = false;
  std::optional<std::uint64_t> position;  // of a survivor
};
[[nodiscard]] Result<SurvivorResult> find_survivor(storage::File& file, std::uint64_t position, std::uint64_t end,
                                                   const SurvivorSearch& search);

// Whether [position, end) holds only zeros.
[[nodiscard]] Result<bool> is_zero_range(storage::File& file, std::uint64_t position, std::uint64_t end);

}  // namespace sluice::log
