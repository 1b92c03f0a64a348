// SPDX-License-Identifier: Apache-2.0
// What a partition gives up: the verdict of retention carried out, as a committed trim and then the removal of segments.
#include <algorithm>
#include <utility>

#include "core/node/partition_host.hpp"
#include "core/partition/errc.hpp"

namespace sluice::node {

void PartitionHost::resume_retention() {
  drop_segments();
  // What a crash kept from being covered by a checkpoint, in a partition that may have no reason for one by itself.
  const auto whole = group_.log().sealed_segments();
  const bool is_trimmed = !whole.empty() && whole.front().next_offset <= state_.floor_offset();
  if (is_trimmed && whole.front().last_op > group_.log().checkpoint_op()) group_.request_checkpoint();
  retention_due_ = true;
  apply_retention();
}

Retained PartitionHost::retained() const {
  Offset unread = state_.next_offset();
  for (const auto& [group, position] : state_.consumers()) unread = std::min(unread, position.committed_next);
  return {.whole = group_.log().sealed_segments(),
          .size_bytes = group_.log().size_bytes(),
          .last_timestamp = state_.last_timestamp(),
          .floor = state_.floor_offset(),
          .next = state_.next_offset(),
          .unread = unread};
}

void PartitionHost::apply_retention() {
  if (!retention_due_ || trimming_ || group_.closing() || group_.fenced()) return;
  retention_due_ = false;
  const metadata::RetentionOptions& options = options_.topic.retention;
  const std::uint64_t size = group_.log().size_bytes();
  const auto exceeds = [&](const std::optional<std::uint64_t>& limit) { return limit && size > *limit; };
  if (!options.age && !exceeds(options.bytes) && !exceeds(options.hard_bytes)) return;
  const RetentionVerdict verdict = judge_retention(options, retained(), clock_.wall());
  look_again(verdict.look_again);
  if (verdict.floor > state_.floor_offset()) trim(verdict);
}

void PartitionHost::trim(const RetentionVerdict& verdict) {
  auto draft = entry::EntryDraft::operation(entry::EntryKind::kPartitionOp, encode(partition::Trim{verdict.floor}));
  auto done = [this](Result<Proposed> outcome) {
    trimming_ = false;
    // Segments may go once a checkpoint covers them.
    if (outcome) return group_.request_checkpoint();
    // A purge was faster: nothing of this is left.
    if (group_.closing() || group_.fenced() || outcome.error().is(partition::Errc::kTrimBackwards)) return;
    if (options_.topic.retention.age) look_again(kRetentionLookMax);
    on_warning(Error(outcome.error()).with("while", "trimming"));
  };
  trimming_ = true;
  if (!draft) return done(fail(std::move(draft).error()));
  if (verdict.roll) {
    group_.propose_with_roll(*std::move(draft), options_.topic.enforce_fsync, std::move(done));
  } else {
    append_draft(*std::move(draft), options_.topic.enforce_fsync, std::move(done));
  }
}

void PartitionHost::look_again(std::optional<std::chrono::nanoseconds> in) {
  if (retention_timer_) shard_.cancel(*std::exchange(retention_timer_, std::nullopt));
  if (!in) return;
  retention_timer_ = shard_.after(*in, [this] {
    retention_timer_.reset();
    retention_due_ = true;
    apply_retention();
  });
}

void PartitionHost::drop_segments() {
  if (state_.floor_offset() > Offset(0)) group_.drop_before(state_.floor_offset());
}

}  // namespace sluice::node
