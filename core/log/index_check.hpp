// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/entry/entry.hpp"
#include "core/log/index.hpp"

namespace sluice::log {

// Compares the entries of an index file with a walk over its segment, and collects what a new one would hold.
class IndexCheck {
 public:
  // `stored`: none if the file is absent or cannot be decoded.
  IndexCheck(std::optional<Index> stored, std::uint64_t stride_bytes) : stored_(std::move(stored)), stride_bytes_(stride_bytes) {}

  // Every entry of the segment, in order.
  void visit(const entry::EntryHeader& header, std::uint64_t position);

  // Whether something of the walk is not as the index has it; an index that reaches beyond the walk is no contradiction.
  [[nodiscard]] bool contradicts() const { return !stored_ || mismatch_; }

  struct Verdict {
    Index index;                      // as it has to be
    bool rebuild = false;             // the file is not a prefix of it
    std::vector<IndexEntry> missing;  // else: what the file has to get
  };
  // `may_end_early`: the active segment's index may, because a crash can come between the log and the index.
  [[nodiscard]] Verdict conclude(bool may_end_early) &&;

 private:
  std::optional<Index> stored_;
  std::uint64_t stride_bytes_;
  std::size_t matched_ = 0;
  std::uint64_t last_indexed_ = 0;
  bool mismatch_ = false;
  std::vector<IndexEntry> missing_;
  std::vector<IndexEntry> fresh_;
};

}  // namespace sluice::log
