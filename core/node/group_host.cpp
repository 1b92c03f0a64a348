// SPDX-License-Identifier: Apache-2.0
#include "core/node/group_host.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/mutation.hpp"
#include "core/log/errc.hpp"
#include "core/node/errc.hpp"

namespace sluice::node {
namespace {

std::unexpected<Error> stopped_error() {
  return fail(Errc::kStopped, "the group is closing");
}

}  // namespace

bool is_op_outcome(const Error& error) {
  return error.kind() != ErrorKind::kCorrupt && error.kind() != ErrorKind::kGiveUp;
}

GroupHost::GroupHost(std::unique_ptr<log::EntryLog> log, StateMachine& machine, const Clock& clock, storage::WitnessCell* witness)
    : machine_(machine),
      clock_(clock),
      witness_(witness),
      commit_(log->head().op),
      segment_since_(log->active_since()),
      log_(std::move(log)) {
  // Offsets that may have been given out before an unclean stop are not given out again. Its outcome comes later, never in this call.
  if (const auto from = log_->mint_from()) propose(entry::EntryDraft::gap(*from), true, [](Result<Proposed>) {});
}

GroupHost::~GroupHost() {
  closing_ = true;
  auto close_done = std::exchange(close_done_, {});
  log_.reset();
  for (InFlight& item : in_flight_) item.done(stopped_error());
  if (close_done) close_done(stopped_error());
}

void GroupHost::propose(entry::EntryDraft draft, bool must_sync, bool begins_segment, ProposeDone done) {
  if (fenced_) return done(fail(*fenced_));
  if (closing_) return done(stopped_error());
  if (auto full = log_->storage_full()) return done(fail(std::move(*full)));
  if (fenced_) return done(fail(*fenced_));
  entry::EntryStamp stamp = log_->next_stamp(draft, clock_.wall(), must_sync);
  stamp.commit = commit_;
  stamp.first_of_segment = stamp.first_of_segment || (begins_segment && !SLUICE_MUTATED(kPurgeWithoutRoll));
  if (stamp.first_of_segment) segment_since_ = stamp.timestamp;
  entry::SharedEntry entry = std::move(draft).stamp(stamp);
  const Op op = stamp.op;
  in_flight_.push_back({entry, std::move(done)});
  ++appending_;
  log_->append(std::move(entry), [this, op](Result<void> outcome) { on_durable(op, std::move(outcome)); });
  --appending_;
  drain();
}

void GroupHost::on_durable(Op op, Result<void> outcome) {
  if (fenced_) return;
  if (!outcome) return fence(outcome.error());
  SLUICE_ASSERT(op > commit_ && op - commit_ <= in_flight_.size(), "op {} commit {} in flight {}", op, commit_, in_flight_.size());
  in_flight_[op - commit_ - 1].durable = true;
  drain();
}

void GroupHost::drain() {
  // A proposer's answer may propose again: the outer loop takes what becomes durable meanwhile.
  if (draining_ || appending_ != 0) return;
  if (in_flight_.empty() || !in_flight_.front().durable) return;
  draining_ = true;
  while (!fenced_ && !in_flight_.empty() && (in_flight_.front().durable || SLUICE_MUTATED(kAppliedBeforeDurable))) apply_front();
  draining_ = false;
  if (fenced_) return maybe_finish_close();
  machine_.on_commit();
  maybe_checkpoint();
  maybe_finish_close();
}

// Once for everything that one flush made durable: before its first answer, and before a reader can see it.
void GroupHost::store_witness() {
  const log::LogHead head = log_->acknowledged();
  witnessed_ = head.op;
  if (witness_ == nullptr) return;
  const log::LogOptions& log = log_->options();
  witness_->store({log.group, log.incarnation, head.op, head.id, head.op});
}

void GroupHost::apply_front() {
  InFlight front = std::move(in_flight_.front());
  in_flight_.pop_front();
  const entry::EntryHeader& header = front.entry.header();
  if (header.op > witnessed_ && !SLUICE_MUTATED(kWitnessAfterAnswer)) store_witness();
  commit_ = header.op;
  // The state after a roll is what a later start wants: it reads the checkpoint and the active segment.
  if (header.has(entry::flag::kFirstOfSegment) && header.op > Op(1)) checkpoint_due_ = true;
  const Result<void> outcome = machine_.apply(front.entry.view);
  if (outcome) return front.done(Proposed{header.op, header.base_offset, header.next_offset});
  front.done(fail(outcome.error()));
  if (!is_op_outcome(outcome.error())) fence(outcome.error());
}

void GroupHost::request_checkpoint() {
  checkpoint_due_ = true;
  maybe_checkpoint();
}

void GroupHost::maybe_checkpoint() {
  if (checkpointing_ || fenced_ || closing_ || !machine_.may_checkpoint()) return;
  if (!checkpoint_due_ && log_->bytes_since_checkpoint() < checkpoint_at_bytes_) return;
  checkpoint_due_ = false;
  if (commit_ <= log_->checkpoint_op()) return machine_.on_checkpoint();
  write_checkpoint(false);
}

void GroupHost::write_checkpoint(bool last) {
  checkpointing_ = true;
  log_->write_checkpoint(commit_, machine_.encode_checkpoint(),
                         [this, last](Result<void> outcome) { on_checkpoint_written(std::move(outcome), last); });
}

void GroupHost::on_checkpoint_written(Result<void> outcome, bool last) {
  checkpointing_ = false;
  if (!log_) return;  // the host is being destroyed
  checkpoint_at_bytes_ = kCheckpointIntervalBytes;
  if (outcome) {
    machine_.on_checkpoint();
  } else if (log_->fenced()) {
    fence(outcome.error());
  } else {
    checkpoint_at_bytes_ += log_->bytes_since_checkpoint();
    machine_.on_warning(Error(outcome.error()).with("while", "writing a checkpoint"));
  }
  if (last && !outcome && !fenced_) return finish_close(std::move(outcome));
  maybe_checkpoint();
  maybe_finish_close();
}

void GroupHost::flush() {
  if (fenced_ || closing_) return;
  if (flushing_) {
    flush_again_ = true;
    return;
  }
  flushing_ = true;
  flush_again_ = false;
  log_->sync([this](Result<void> outcome) {
    flushing_ = false;
    if (!log_) return;  // the host is being destroyed
    if (!outcome) fence(outcome.error());
    if (flush_again_ && log_->unsynced_bytes() > 0) flush();
    maybe_finish_close();
  });
}

void GroupHost::drop_before(Offset floor) {
  if (dropping_ || closing_ || fenced_) return;
  dropping_ = true;
  log_->drop_before(floor, tracked<std::size_t>([this, floor](Result<std::size_t> dropped) {
                      dropping_ = false;
                      // What could not be removed is first in line after the next checkpoint.
                      if (!dropped) return machine_.on_warning(Error(dropped.error()).with("while", "removing old segments"));
                      if (*dropped == log::kDropSegmentsMax) drop_before(floor);
                    }));
}

void GroupHost::fence(const Error& error) {
  // After close, and while the log is destroyed, everybody hears log.stopped: that is no fault.
  if (fenced_ || (closing_ && !close_done_)) return;
  if (error.is(log::Errc::kStorageFull)) {
    fail_in_flight(error);
  } else {
    become_fenced(error);
  }
  maybe_finish_close();
}

void GroupHost::become_fenced(const Error& error) {
  fenced_ = Error(Errc::kFatal, fmt::format("group {} is fenced: {}", log_->options().group, error.message()))
                .with("directory", log_->options().directory)
                .with("cause", std::string(error.code()));
  for (const auto& [key, value] : error.context()) fenced_->with(key, value);
  // The process first: whoever hears of the failure may look for its cause there.
  if (!SLUICE_MUTATED(kFatalToldLast)) machine_.on_fenced(*fenced_);
  fail_in_flight(*fenced_);
  if (SLUICE_MUTATED(kFatalToldLast)) machine_.on_fenced(*fenced_);
}

void GroupHost::fail_in_flight(const Error& error) {
  std::deque<InFlight> dropped = std::exchange(in_flight_, {});
  for (InFlight& item : dropped) item.done(fail(error));
}

void GroupHost::close(std::move_only_function<void(Result<void>)> done) {
  SLUICE_ASSERT(!closing_);
  closing_ = true;
  close_done_ = std::move(done);
  log_->stop_waiting_for_room();
  maybe_finish_close();
}

void GroupHost::maybe_finish_close() {
  if (!close_done_ || draining_ || checkpointing_ || flushing_ || calls_ != 0) return;
  if (fenced_) return finish_close(fail(*fenced_));
  if (!in_flight_.empty()) return;
  if (const auto ended = log_->fenced()) return finish_close(fail(*ended));
  if (commit_ > log_->checkpoint_op() && machine_.may_checkpoint()) return write_checkpoint(true);
  finish_close({});
}

void GroupHost::finish_close(Result<void> outcome) {
  if (!close_done_) return;
  log_->close([this, done = std::exchange(close_done_, {}), outcome = std::move(outcome)](Result<void> closed) mutable {
    if (SLUICE_MUTATED(kCleanExitOverLoss)) closed = {};
    // Acknowledged bytes that this sync did not make durable are lost like those of any other.
    if (!closed && log_ && log_->fenced() && !fenced_ && !closed.error().is(log::Errc::kStorageFull)) {
      become_fenced(closed.error());
      return done(fail(*fenced_));
    }
    done(outcome ? std::move(closed) : std::move(outcome));
  });
}

}  // namespace sluice::node
