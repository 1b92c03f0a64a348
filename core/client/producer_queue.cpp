// SPDX-License-Identifier: Apache-2.0
#include "core/client/producer_queue.hpp"

#include <algorithm>
#include <limits>

#include "core/base/assert.hpp"

namespace sluice::client {

ProducerQueue::ProducerQueue(const ProducerLimits& limits, RequestNumber first) : limits_(limits), first_(first) {
  if (limits_.max_buffer_size == 0) limits_.max_buffer_size = std::numeric_limits<std::uint64_t>::max();
  limits_.linger_max = std::min<std::chrono::nanoseconds>(limits_.linger_max, kLingerMax);
}

ProducerQueue::Admission ProducerQueue::admit(std::uint64_t bytes, Instant now) {
  if (stopped_) return Admission::kStopped;
  if (bytes > limits_.max_buffer_size || bytes > kBatchBytesMax) return Admission::kTooLarge;
  if (bytes > limits_.max_buffer_size - held_bytes_) {
    flush();
    return Admission::kFull;
  }
  held_bytes_ += bytes;
  // A batch that was written once keeps its bytes, because its number stands for them.
  if (!batches_.empty()) {
    Batch& newest = batches_.back();
    if (newest.place == Place::kWaiting && !newest.first_written_at && bytes <= kBatchBytesMax - newest.bytes) {
      newest.bytes += bytes;
      return Admission::kJoined;
    }
  }
  batches_.push_back({.bytes = bytes, .opened_at = now});
  return Admission::kOpened;
}

void ProducerQueue::flush() {
  if (!batches_.empty()) batches_.back().lingers = false;
}

const ProducerQueue::Batch* ProducerQueue::next_waiting() const {
  const auto found = std::ranges::find(batches_, Place::kWaiting, &Batch::place);
  return found == batches_.end() ? nullptr : &*found;
}

bool ProducerQueue::is_due(const Batch& batch, Instant now) const {
  return !batch.lingers || batch.first_written_at || batch.bytes >= limits_.batch_bytes || &batch != &batches_.back() ||
         now - batch.opened_at >= limits_.linger_max;
}

std::optional<RequestNumber> ProducerQueue::next(Instant now) {
  if (stopped_ || window_is_full()) return std::nullopt;
  if (resume_at_ && (in_flight_ != 0 || now < *resume_at_)) return std::nullopt;
  resume_at_.reset();
  const auto found = std::ranges::find(batches_, Place::kWaiting, &Batch::place);
  if (found == batches_.end() || !is_due(*found, now)) return std::nullopt;
  found->place = Place::kInFlight;
  if (!found->first_written_at) found->first_written_at = now;
  ++in_flight_;
  return first_ + static_cast<std::uint64_t>(found - batches_.begin());
}

std::optional<RequestNumber> ProducerQueue::give_up(Instant now) {
  if (stopped_ || !resume_at_ || in_flight_ == 0) return std::nullopt;
  const auto found = std::ranges::find(batches_, Place::kWaiting, &Batch::place);
  if (found == batches_.end() || !found->first_written_at || now - *found->first_written_at < limits_.retry_for) return std::nullopt;
  const RequestNumber number = first_ + static_cast<std::uint64_t>(found - batches_.begin());
  stopped_ = true;
  release(*found);
  return number;
}

std::optional<ProducerQueue::Instant> ProducerQueue::wake_at() const {
  if (stopped_ || window_is_full()) return std::nullopt;
  const Batch* batch = next_waiting();
  if (batch == nullptr) return std::nullopt;
  if (resume_at_ && in_flight_ != 0) {
    return batch->first_written_at ? std::optional(*batch->first_written_at + limits_.retry_for) : std::nullopt;
  }
  const Instant due = is_due(*batch, batch->opened_at) ? batch->opened_at : batch->opened_at + limits_.linger_max;
  return std::max(due, resume_at_.value_or(due));
}

bool ProducerQueue::answered(RequestNumber number, Answer answer, Instant now) {
  Batch& batch = at(number);
  SLUICE_ASSERT(batch.place == Place::kInFlight, "request {} is not in flight", number);
  --in_flight_;
  const bool may_come_again = answer == Answer::kAgain || (answer == Answer::kOutOfSequence && number != first_);
  if (may_come_again && !stopped_ && now - *batch.first_written_at < limits_.retry_for) {
    put_back(batch, now);
    return false;
  }
  if (answer != Answer::kWritten) stopped_ = true;
  release(batch);
  return true;
}

void ProducerQueue::put_back(Batch& batch, Instant now) {
  batch.place = Place::kWaiting;
  resume_at_ = now + limits_.retry_pause;
}

void ProducerQueue::release(Batch& batch) {
  held_bytes_ -= batch.bytes;
  batch.place = Place::kDone;
  while (!batches_.empty() && batches_.front().place == Place::kDone) {
    batches_.pop_front();
    first_ = first_.next();
  }
}

std::vector<RequestNumber> ProducerQueue::stop() {
  stopped_ = true;
  std::vector<RequestNumber> dropped;
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    if (batches_[i].place == Place::kWaiting) dropped.push_back(first_ + i);
  }
  for (const RequestNumber number : dropped) release(at(number));
  return dropped;
}

}  // namespace sluice::client
