// SPDX-License-Identifier: Apache-2.0
#include "core/node/shard_scrub.hpp"

#include <algorithm>
#include <utility>

#include "core/node/node_impl.hpp"

namespace sluice::node {

ShardScrub::ShardScrub(Shard& shard, const Clock& clock, const Options& options)
    : shard_(shard), clock_(clock), interval_(options.interval), pace_(options.bytes_per_second) {}

void ShardScrub::add(const std::shared_ptr<GroupSlot>& slot) {
  partitions_.insert_or_assign(slot->directory.group, slot);
}

// Begins the next step, or rests. A partition is left when nothing of it is due any more.
void ShardScrub::go_on() {
  for (std::size_t visits = 0; visits < kScrubVisitsMax; ++visits) {
    const auto found = partitions_.lower_bound(at_);
    if (found == partitions_.end()) {
      at_ = GroupId{};
      return rest(std::min<std::chrono::nanoseconds>(kScrubPause, interval_));
    }
    at_ = found->first;
    const auto slot = found->second.lock();
    if (!slot || !slot->host) {
      partitions_.erase(found);
      continue;
    }
    const auto began = clock_.monotonic();
    if (slot->host->scrub(interval_, [this, began](const Result<std::uint64_t>& bytes) { on_step(began, bytes); })) return;
    at_ = at_.next();
  }
  rest(std::chrono::nanoseconds(0));
}

void ShardScrub::on_step(Clock::Monotonic began, const Result<std::uint64_t>& bytes) {
  if (!bytes) return rest(kScrubPause);
  const auto now = clock_.monotonic();
  rest(std::max(pace_.next_after(began, now, *bytes) - now, std::chrono::nanoseconds(0)));
}

void ShardScrub::rest(std::chrono::nanoseconds pause) {
  shard_.after(pause, [this] { go_on(); });
}

}  // namespace sluice::node
