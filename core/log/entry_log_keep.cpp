// SPDX-License-Identifier: Apache-2.0
// What is kept and what goes: checkpoints and retention.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/entry_log_impl.hpp"

namespace sluice::log {

void EntryLog::Impl::write_checkpoint(Op op, ByteVector body, Completion<void> done) {
  if (auto error = closed_error()) return done(fail(std::move(*error)));
  if (checkpointing_) return done(fail(Errc::kOutOfSequence, "another checkpoint of this log is being written"));
  const Op newest =
      options_.replicated && !SLUICE_MUTATED(kCheckpointUncommitted) ? std::min(acknowledged_op_, committed_op_) : acknowledged_op_;
  if (op.value() == 0 || op < checkpoint_op_ || op > newest) {
    return done(fail(Errc::kOutOfSequence,
                     fmt::format("a checkpoint at op {}; the last one is at {}, the log is at {}", op, checkpoint_op_, newest)));
  }
  if (body.size() > kCheckpointBodyBytesMax)
    return done(
        fail(sluice::Errc::kLimit, fmt::format("a checkpoint of {} bytes; at most {} are allowed", body.size(), kCheckpointBodyBytesMax)));
  checkpointing_ = true;
  const std::uint64_t bytes_before = bytes_since_checkpoint_;
  auto finish = [self = shared_from_this(), done = std::move(done)](Result<void> outcome) mutable {
    self->checkpointing_ = false;
    done(std::move(outcome));
  };
  read_ops(
      op, op, 1, [self = shared_from_this(), op, bytes_before, body = std::move(body), finish = std::move(finish)](auto found) mutable {
        if (!found) return finish(fail(std::move(found).error()));
        if (found->empty()) return finish(fail(Errc::kDamagedEntry, fmt::format("op {} is not where it was written", op)));
        const entry::EntryHeader& header = found->front().header();
        Checkpoint checkpoint{self->options_.group, self->options_.incarnation, op, header.identity, header.next_offset, std::move(body)};
        // The log first: a checkpoint that is newer than the log's end would be proof of a loss.
        self->sync_to(SLUICE_MUTATED(kCheckpointBeforeLog) ? Op{0} : op,
                      [self, bytes_before, checkpoint = std::move(checkpoint), finish = std::move(finish)](Result<void> synced) mutable {
                        if (!synced) return finish(std::move(synced));
                        self->store_checkpoint(std::move(checkpoint), bytes_before, std::move(finish));
                      });
      });
}

// A checkpoint that cannot be written is no reason to stop the log: the one before it stays, or this one is there after all.
void EntryLog::Impl::store_checkpoint(Checkpoint checkpoint, std::uint64_t bytes_before, Completion<void> done) {
  const Op op = checkpoint.op;
  queue_.submit(
      [&storage = storage_, directory = options_.directory, checkpoint = std::move(checkpoint)]() -> Result<void> {
        return storage::replace_file(storage, directory, kCheckpointName, encode_checkpoint(checkpoint));
      },
      [self = shared_from_this(), op, bytes_before, done = std::move(done)](Result<void> outcome) mutable {
        if (!outcome) return done(std::move(outcome));
        self->checkpoint_op_ = op;
        self->bytes_since_checkpoint_ -= bytes_before;
        done({});
      });
}

// Whether a truncation may still make it the active segment again.
bool EntryLog::Impl::may_become_active(const Segment& segment) const {
  return unsealed_ && !may_seal() && unsealed_->segment == segment.page.first_op;
}

void EntryLog::Impl::drop_before(Offset trim_floor, Completion<std::size_t> done) {
  if (auto error = closed_error()) return done(fail(std::move(*error)));
  if (dropping_) return done(std::size_t{0});
  while (segments_.size() > 1 && to_remove_.size() < kDropSegmentsMax &&
         (segments_.front().end.next_offset <= trim_floor || SLUICE_MUTATED(kUnlinkedAboveFloor)) &&
         (segments_.front().end.op <= checkpoint_op_ || SLUICE_MUTATED(kUnlinkedBeforeCheckpoint)) &&
         !may_become_active(segments_.front())) {
    to_remove_.push_back(segments_.front().page.first_op);
    segments_.pop_front();
  }
  if (to_remove_.empty()) return done(std::size_t{0});
  dropping_ = true;
  auto removed = std::make_shared<std::size_t>(0);
  queue_.submit(
      [&storage = storage_, directory = options_.directory, doomed = to_remove_, removed]() -> Result<void> {
        // The oldest first, and durably gone before the next one goes: no crash leaves a hole.
        for (const Op op : doomed) {
          SLUICE_CHECK(remove_segment_files(storage, directory, op));
          ++*removed;
        }
        return {};
      },
      [self = shared_from_this(), removed, done = std::move(done)](Result<void> outcome) mutable {
        self->dropping_ = false;
        // What could not be removed is first in line the next time, and a leading part of the log for the next start.
        self->to_remove_.erase(self->to_remove_.begin(), self->to_remove_.begin() + static_cast<std::ptrdiff_t>(*removed));
        if (!outcome) return done(fail(std::move(outcome).error()));
        done(*removed);
      });
}

}  // namespace sluice::log
