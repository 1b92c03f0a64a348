// SPDX-License-Identifier: Apache-2.0
#include "core/log/index_check.hpp"

#include "core/base/mutation.hpp"
#include "core/log/segment_page.hpp"

namespace sluice::log {

void IndexCheck::visit(const entry::EntryHeader& header, std::uint64_t position) {
  const IndexEntry here{header.op, header.base_offset, header.base_timestamp, position};
  if (fresh_.empty() || position - fresh_.back().position >= stride_bytes_) fresh_.push_back(here);
  if (!stored_ || mismatch_) return;
  const auto entries = stored_->entries();
  if (matched_ < entries.size()) {
    if (entries[matched_].position < position) mismatch_ = true;
    if (entries[matched_].position != position) return;
    mismatch_ = mismatch_ || (entries[matched_] != here && !SLUICE_MUTATED(kIndexMismatchKept));
    ++matched_;
    last_indexed_ = position;
    return;
  }
  if (position - (last_indexed_ == 0 ? kSegmentPageBytes : last_indexed_) >= stride_bytes_) {
    missing_.push_back(here);
    last_indexed_ = position;
  }
}

IndexCheck::Verdict IndexCheck::conclude(bool may_end_early) && {
  const bool matches = stored_ && !mismatch_ && (matched_ == stored_->entries().size() || SLUICE_MUTATED(kIndexAheadKept)) &&
                       (fresh_.empty() || !stored_->empty());
  Verdict out;
  out.rebuild = !matches || SLUICE_MUTATED(kCleanIndexRewritten) || (!may_end_early && !missing_.empty());
  if (out.rebuild) {
    for (const IndexEntry& entry : fresh_) out.index.add(entry);
    return out;
  }
  out.index = std::move(*stored_);
  for (const IndexEntry& entry : missing_) out.index.add(entry);
  out.missing = std::move(missing_);
  return out;
}

}  // namespace sluice::log
