// SPDX-License-Identifier: Apache-2.0
// The sparse index of a segment: derived from the log, never evidence. docs/reference/log-format.md, "Index file".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace sluice::log {

struct IndexEntry {
  Op op;
  Offset offset;          // base offset of the entry
  TimestampUs timestamp;  // base timestamp of the entry
  std::uint64_t position = 0;

  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};
inline constexpr std::size_t kIndexEntryBytes = 32;
inline constexpr std::uint64_t kIndexStrideBytes = 64u << 10;

void encode_index_entry(ByteVector& out, const IndexEntry& entry);

// Value; entries strictly ascending in op and position, weakly in offset, strictly in timestamp.
class Index {
 public:
  // Whole-file decode of untrusted bytes. Errors: log.damaged_segment for a partial, all-zero or out-of-order entry.
  [[nodiscard]] static Result<Index> parse(Bytes bytes);

  // By the owner, in order.
  void add(const IndexEntry& entry) { entries_.push_back(entry); }
  // Forgets the entries at `position` and behind it.
  void cut(std::uint64_t position) {
    while (!entries_.empty() && entries_.back().position >= position) entries_.pop_back();
  }
  [[nodiscard]] std::span<const IndexEntry> entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  // Where to start a scan for the entry: the last indexed entry at or before it; none if even the first is after it.
  [[nodiscard]] std::optional<IndexEntry> at_or_before(Op op) const;
  // The entry that holds `offset` is at or after this one.
  [[nodiscard]] std::optional<IndexEntry> at_or_before(Offset offset) const;
  // The first entry with base timestamp ≥ `timestamp` is at or after this one.
  [[nodiscard]] std::optional<IndexEntry> before(TimestampUs timestamp) const;

 private:
  std::vector<IndexEntry> entries_;
};

}  // namespace sluice::log
