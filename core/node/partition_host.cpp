// SPDX-License-Identifier: Apache-2.0
#include "core/node/partition_host.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/node/errc.hpp"
#include "core/node/scrub_pace.hpp"
#include "core/partition/errc.hpp"

namespace sluice::node {
PartitionHost::PartitionHost(Options options, std::unique_ptr<log::EntryLog> log, partition::PartitionState state, Shard& shard,
                             const Clock& clock)
    : options_(std::move(options)),
      shard_(shard),
      clock_(clock),
      state_(std::move(state)),
      group_(std::move(log), *this, clock, options_.witness) {
  for (const auto& [connector, position] : state_.sources()) {
    tenures_.emplace(connector, Tenure{position.epoch, position.state ? std::optional(position.state->sequence) : std::nullopt});
  }
}

PartitionHost::~PartitionHost() {
  fail_waiters(Error(Errc::kStopped, fmt::format("{} is gone", options_.name)));
  if (flush_timer_) shard_.cancel(*flush_timer_);
  look_again(std::nullopt);
}

PartitionView PartitionHost::view() const {
  return {.state = &state_,
          .first_offset = std::max(state_.floor_offset(), group_.log().first_offset()),
          .size_bytes = group_.log().size_bytes(),
          .scrub = &scrub_};
}

Result<PartitionView> PartitionHost::inspect() const {
  if (group_.fenced()) return fail(*group_.fenced());
  return view();
}

Result<void> PartitionHost::check_open() const {
  if (group_.fenced()) return fail(*group_.fenced());
  if (group_.closing()) return fail(Errc::kStopped, fmt::format("{} is closing", options_.name));
  return {};
}

void PartitionHost::append(AppendRequest request, ProposeDone done) {
  if (auto open = check_open(); !open) return done(fail(std::move(open).error()));
  const bool numbered = request.draft.header().has(entry::flag::kHasClient);
  if (numbered && !requests_.is_next(state_.clients(), request.draft.header(), done)) return;
  // Before admission, which counts what it admits as begun: a refused one is to be tried again as it was.
  if (auto full = group_.storage_full()) return done(fail(std::move(*full)));
  if (options_.room != nullptr) {
    if (auto low = options_.room->refuses_messages()) return done(fail(std::move(*low)));
  }
  if (request.source) {
    if (auto admitted = admit_source(*request.source); !admitted) return done(fail(std::move(admitted).error()));
  }
  if (numbered) done = requests_.begin(request.draft.header(), std::move(done));
  append_draft(std::move(request.draft), options_.topic.enforce_fsync, std::move(done));
}

void PartitionHost::append_draft(entry::EntryDraft draft, bool must_sync, ProposeDone done) {
  const auto since = group_.segment_since();
  if (since && roll_is_due(options_.topic.retention, *since, clock_.wall())) {
    group_.propose_with_roll(std::move(draft), must_sync, std::move(done));
  } else {
    group_.propose(std::move(draft), must_sync, std::move(done));
  }
}

// A trim makes room.
std::optional<Error> PartitionHost::no_room_for(const partition::PartitionOp& op) const {
  const bool makes_room = std::holds_alternative<partition::Trim>(op) && !SLUICE_MUTATED(kTrimsOnFullDisk);
  return options_.room == nullptr || makes_room ? std::nullopt : options_.room->refuses_operations();
}

Result<void> PartitionHost::admit(const partition::PartitionOp& op) {
  if (const auto* begin = std::get_if<partition::BeginSource>(&op)) return admit_source_begin(begin->connector);
  if (const auto* envelope = std::get_if<partition::StateEnvelope>(&op)) {
    return admit_source({envelope->state.connector, envelope->epoch, envelope->state.sequence});
  }
  return state_.check(op);
}

Result<void> PartitionHost::admit_source(const SourceClaim& claim) {
  const auto found = tenures_.find(claim.connector);
  if (found == tenures_.end()) {
    return fail(partition::Errc::kUnknownSource, fmt::format("{}: source '{}' was not begun here", options_.name, claim.connector));
  }
  Tenure& tenure = found->second;
  if (claim.epoch != tenure.epoch) {
    return fail(partition::Errc::kFenced, fmt::format("{}: source '{}' appends with epoch {}, the newest assignment has epoch {}",
                                                      options_.name, claim.connector, claim.epoch, tenure.epoch));
  }
  if (tenure.sequence && claim.sequence <= *tenure.sequence) {
    return fail(partition::Errc::kStateSequence, fmt::format("{}: source '{}' appends state {}, the newest is {}", options_.name,
                                                             claim.connector, claim.sequence, *tenure.sequence));
  }
  tenure.sequence = claim.sequence;
  return {};
}

Result<void> PartitionHost::admit_source_begin(const std::string& connector) {
  SLUICE_CHECK(state_.check(partition::BeginSource{connector}));
  if (!tenures_.contains(connector) && tenures_.size() >= partition::kSourcesMax) {
    return fail(partition::Errc::kLimit, fmt::format("{} has {} sources, no more are allowed", options_.name, partition::kSourcesMax));
  }
  Tenure& tenure = tenures_[connector];
  tenure.epoch = tenure.epoch.next();
  return {};
}

void PartitionHost::propose(const partition::PartitionOp& op, Completion<PartitionView> done) {
  if (auto open = check_open(); !open) return done(fail(std::move(open).error()));
  if (auto full = group_.storage_full()) return done(fail(std::move(*full)));
  if (auto full = no_room_for(op)) return done(fail(std::move(*full)));
  if (auto admitted = admit(op); !admitted) return done(fail(std::move(admitted).error()));
  auto draft = entry::EntryDraft::operation(entry::EntryKind::kPartitionOp, encode(op));
  if (!draft) return done(fail(std::move(draft).error()));
  append_draft(*std::move(draft), options_.topic.enforce_fsync, [this, done = std::move(done)](Result<Proposed> outcome) mutable {
    if (!outcome) return done(fail(std::move(outcome).error()));
    done(view());
  });
}

void PartitionHost::purge(Completion<PartitionView> done) {
  if (auto open = check_open(); !open) return done(fail(std::move(open).error()));
  if (auto full = group_.storage_full()) return done(fail(std::move(*full)));
  // Records that are on their way were sent before it: they go too.
  auto draft = entry::EntryDraft::operation(entry::EntryKind::kPartitionOp, encode(partition::Trim{group_.log().head().next_offset}));
  if (!draft) return done(fail(std::move(draft).error()));
  // Durable whatever the topic promises: what was purged does not come back.
  group_.propose_with_roll(*std::move(draft), true, [this, done = std::move(done)](Result<Proposed> outcome) mutable {
    if (!outcome) return done(fail(std::move(outcome).error()));
    done(view());
    group_.request_checkpoint();
  });
}

Result<void> PartitionHost::apply(const entry::EntryView& entry) {
  // Only a roll, a consumer's progress or time can make a whole segment superfluous.
  const bool awaits_time = options_.topic.retention.age && !retention_timer_;
  if (awaits_time || entry.header().kind != entry::EntryKind::kMessages || entry.header().has(entry::flag::kFirstOfSegment)) {
    retention_due_ = true;
  }
  return state_.apply(entry);
}

void PartitionHost::on_commit() {
  wake_waiters();
  schedule_flush();
  apply_retention();
}

void PartitionHost::on_warning(const Error& error) {
  if (options_.on_warning) options_.on_warning(Error(error).with("partition", options_.name));
}

void PartitionHost::on_fenced(const Error& error) {
  Error fatal = error;
  fatal.with("partition", options_.name);
  fail_waiters(fatal);
  if (options_.on_fatal) options_.on_fatal(std::move(fatal));
}

void PartitionHost::close(std::move_only_function<void(Result<void>)> done) {
  fail_waiters(Error(Errc::kStopped, fmt::format("{} is closing", options_.name)));
  if (flush_timer_) shard_.cancel(*std::exchange(flush_timer_, std::nullopt));
  look_again(std::nullopt);
  group_.close(std::move(done));
}

void PartitionHost::schedule_flush() {
  if (options_.topic.enforce_fsync || group_.closing() || group_.log().unsynced_bytes() == 0) return;
  if (group_.log().unsynced_bytes() >= kFlushEarlyBytes) return group_.flush();
  if (flush_timer_) return;
  flush_timer_ = shard_.after(options_.topic.flush_interval, [this] {
    flush_timer_.reset();
    group_.flush();
  });
}

bool PartitionHost::scrub(std::chrono::nanoseconds interval, Completion<std::uint64_t> done) {
  if (group_.closing() || group_.fenced()) return false;
  const std::vector<log::EntryLog::SegmentInfo> segments = group_.log().sealed_segments();
  const auto place = scrub_.next(segments, clock_.monotonic(), interval);
  if (!place) return false;
  auto on_step = [this, done = std::move(done)](Result<log::ScrubStep> step) mutable {
    if (!step) return done(fail(std::move(step).error()));
    const bool is_news = scrub_.note(*step, clock_.monotonic());
    if (is_news && options_.on_damage) options_.on_damage(Error(*step->damage).with("partition", options_.name));
    done(step->bytes);
  };
  group_.log().scrub(*place, kScrubStepBytes, group_.tracked<log::ScrubStep>(std::move(on_step)));
  return true;
}

}  // namespace sluice::node
