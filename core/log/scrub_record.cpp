// SPDX-License-Identifier: Apache-2.0
#include "core/log/scrub_record.hpp"

#include <algorithm>

#include "core/base/mutation.hpp"

namespace sluice::log {

void ScrubRecord::forget_others(std::span<const EntryLog::SegmentInfo> segments) {
  const auto is_gone = [&](Op segment) { return !std::ranges::binary_search(segments, segment, {}, &EntryLog::SegmentInfo::first_op); };
  std::erase_if(verified_, [&](const auto& item) { return is_gone(item.first); });
  std::erase_if(damage_, [&](const auto& item) { return is_gone(item.first); });
  if (begun_ && is_gone(begun_->segment)) begun_.reset();
}

std::optional<ScrubPlace> ScrubRecord::next(std::span<const EntryLog::SegmentInfo> segments, Instant now,
                                            std::chrono::nanoseconds interval) {
  forget_others(segments);
  due_ = 0;
  std::optional<Op> oldest;
  for (const EntryLog::SegmentInfo& segment : segments) {
    if (!segment.sealed && !SLUICE_MUTATED(kScrubUnsealed)) continue;
    auto verified = verified_.find(segment.first_op);
    if (verified == verified_.end() && !segment.by_seal) verified = verified_.emplace(segment.first_op, now).first;
    const bool due = verified == verified_.end() || now - verified->second >= interval || SLUICE_MUTATED(kScrubForgets);
    if (!due) continue;
    ++due_;
    if (!oldest) oldest = segment.first_op;
  }
  if (begun_) return begun_;
  if (!oldest) return std::nullopt;
  return ScrubPlace{.segment = *oldest, .position = 0, .before = {}};
}

bool ScrubRecord::note(const ScrubStep& step, Instant now) {
  bytes_ += step.bytes;
  begun_.reset();
  if (!step.at_end) {
    begun_ = step.next;
    return false;
  }
  const Op segment = step.next.segment;
  verified_.insert_or_assign(segment, now);
  due_ -= std::min<std::size_t>(due_, 1);
  const auto known = damage_.find(segment);
  const bool is_news = step.damage && (known == damage_.end() || known->second.message() != step.damage->message());
  if (known != damage_.end()) damage_.erase(known);
  if (step.damage) damage_.emplace(segment, *step.damage);
  return is_news;
}

}  // namespace sluice::log
