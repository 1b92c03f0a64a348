// SPDX-License-Identifier: Apache-2.0
// The read side of a partition: ranges, long polls, cursors of sequential readers.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/errc.hpp"
#include "core/node/errc.hpp"
#include "core/node/partition_host.hpp"

namespace sluice::node {
namespace {

Error out_of_range_error(const std::string& name, Offset from, Offset first, Offset next) {
  std::string message = from < first ? fmt::format("{}: offset {} is trimmed, the earliest is {}", name, from, first)
                                     : fmt::format("{}: offset {} is beyond the end, which is {}", name, from, next);
  return Error(Errc::kOutOfRange, std::move(message))
      .with("earliest", std::to_string(first.value()))
      .with("next", std::to_string(next.value()));
}

}  // namespace

void PartitionHost::read(const ReadRequest& request, Completion<ReadOutcome> done) {
  if (auto open = check_open(); !open) return done(fail(std::move(open).error()));
  const PartitionView now = view();
  const Offset next = state_.next_offset();
  if ((request.from < now.first_offset && !SLUICE_MUTATED(kReadBelowFloor)) || request.from > next) {
    return done(fail(out_of_range_error(options_.name, request.from, now.first_offset, next)));
  }
  if (request.from < next) return read_now(request, std::move(done));
  if (request.wait_max.count() <= 0) return done(ReadOutcome{{}, next});
  wait_for_records(request, std::move(done));
}

void PartitionHost::read_now(const ReadRequest& request, Completion<ReadOutcome> done) {
  log::ReadRequest from_log{.from = request.from, .up_to = group_.commit(), .bytes_max = request.bytes_max, .cursor = std::nullopt};
  const auto cursor = std::ranges::find(cursors_, request.from, &log::ReadCursor::offset);
  if (cursor != cursors_.end()) from_log.cursor = *cursor;
  const Offset high_watermark = state_.next_offset();
  auto answer = [this, from = request.from, high_watermark, done = std::move(done)](Result<log::ReadResult> outcome) mutable {
    if (!outcome) {
      // Retention may have passed the reader between the check and the read.
      if (!outcome.error().is(log::Errc::kOutOfRange)) return done(fail(std::move(outcome).error().with("partition", options_.name)));
      return done(fail(out_of_range_error(options_.name, from, view().first_offset, state_.next_offset())));
    }
    remember_cursor(outcome->cursor);
    done(ReadOutcome{std::move(outcome->entries), high_watermark});
  };
  group_.log().read(from_log, group_.tracked<log::ReadResult>(std::move(answer)));
}

void PartitionHost::remember_cursor(const log::ReadCursor& cursor) {
  const auto same = std::ranges::find(cursors_, cursor.offset, &log::ReadCursor::offset);
  if (same != cursors_.end()) {
    *same = cursor;
  } else if (cursors_.size() < kReadCursorsMax) {
    cursors_.push_back(cursor);
  } else {
    cursors_[next_cursor_] = cursor;
    next_cursor_ = (next_cursor_ + 1) % kReadCursorsMax;
  }
}

void PartitionHost::wait_for_records(const ReadRequest& request, Completion<ReadOutcome> done) {
  if (waiters_.size() >= kReadWaitersMax) {
    return done(fail(Errc::kBusy, fmt::format("{}: {} readers wait already, no more are allowed", options_.name, kReadWaitersMax)));
  }
  const std::uint64_t id = next_waiter_++;
  const Shard::TimerId timer = shard_.after(request.wait_max, [this, id] {
    auto expired = waiters_.extract(id);
    if (!expired.empty()) expired.mapped().done(ReadOutcome{{}, state_.next_offset()});
  });
  waiters_.emplace(id, Waiter{request, std::move(done), timer});
}

void PartitionHost::wake_waiters() {
  // An answer may read and wait again: those that are waiting now are taken first, and each only once.
  const std::uint64_t end = next_waiter_;
  while (!waiters_.empty() && waiters_.begin()->first < end && waiters_.begin()->second.request.from < state_.next_offset()) {
    auto woken = waiters_.extract(waiters_.begin());
    shard_.cancel(woken.mapped().timer);
    read_now(woken.mapped().request, std::move(woken.mapped().done));
  }
}

void PartitionHost::fail_waiters(const Error& error) {
  auto waiters = std::exchange(waiters_, {});
  for (auto& [id, waiter] : waiters) {
    shard_.cancel(waiter.timer);
    waiter.done(fail(error));
  }
}

void PartitionHost::offset_for_time(TimestampUs at, Completion<Offset> done) {
  if (auto open = check_open(); !open) return done(fail(std::move(open).error()));
  auto answer = [this, done = std::move(done)](Result<Offset> outcome) mutable {
    if (!outcome) return done(fail(std::move(outcome).error().with("partition", options_.name)));
    done(std::max(*outcome, view().first_offset));
  };
  group_.log().offset_for_time(at, group_.commit(), group_.tracked<Offset>(std::move(answer)));
}

}  // namespace sluice::node
