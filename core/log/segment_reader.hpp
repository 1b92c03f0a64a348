// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

inline constexpr std::size_t kReadWindowBytes = 512u << 10;

// Walks the entries of one segment file in order and verifies each. Reads a window at a time; an entry's view is valid until the next
// call. One owner, blocking.
class SegmentReader {
 public:
  enum class What : std::uint8_t { kEntry, kEnd, kDamage };
  struct Step {
    What what = What::kEnd;
    std::uint64_t position = 0;
    entry::EntryView view;                     // kEntry
    std::optional<Error> damage;               // kDamage
    std::optional<entry::EntryHeader> header;  // kDamage, if the header verifies: the entry would reach position + stored_bytes
  };

  // Entries in [position, end) of the file.
  SegmentReader(storage::File& file, std::uint64_t position, std::uint64_t end) : file_(file), position_(position), end_(end) {}

  // The next entry. After kDamage or kEnd the position stays. Errors: I/O.
  [[nodiscard]] Result<Step> next();
  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  // Makes at least `want` bytes at the position available, or what the file has.
  [[nodiscard]] Result<Bytes> at_least(std::size_t want);

  storage::File& file_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::unique_ptr<std::byte[]> window_;
  std::size_t capacity_ = 0;
  std::uint64_t window_at_ = 0;  // file position of the window's first byte
  std::size_t window_bytes_ = 0;
};

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
