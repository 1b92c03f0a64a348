// SPDX-License-Identifier: Apache-2.0
#include "core/client/producer.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/random.hpp"
#include "core/entry/errc.hpp"
#include "core/entry/message.hpp"

namespace sluice::client {
namespace {

// A second request that overtakes a first one, which was refused for the moment, comes from a client that nobody knows yet.
bool is_out_of_sequence(const Error& error) {
  return error.is(Errc::kOutOfSequence) || error.is(Errc::kProducerUnknown);
}

ProducerQueue::Answer to_answer(const Result<AppendResult>& stored) {
  if (stored) return ProducerQueue::Answer::kWritten;
  if (is_out_of_sequence(stored.error())) return ProducerQueue::Answer::kOutOfSequence;
  return stored.error().kind() == ErrorKind::kRetry ? ProducerQueue::Answer::kAgain : ProducerQueue::Answer::kFailed;
}

// As they will be stored.
Result<std::uint64_t> bytes_of(std::span<const RecordView> records) {
  if (records.empty()) return fail(entry::Errc::kBatchEmpty, "a send without a record");
  std::uint64_t sum = 0;
  for (const RecordView& record : records) {
    const std::size_t bytes = entry::record_bytes(record);
    if (bytes > entry::kRecordBytesMax)
      return fail(Errc::kRecordTooLarge, fmt::format("a record of {} bytes; at most {} are allowed", bytes, entry::kRecordBytesMax));
    sum += entry::frame_bytes(record);
  }
  if (sum > kBatchBytesMax) return fail(Errc::kBatchTooLarge, fmt::format("a send of {} bytes; an entry holds {}", sum, kBatchBytesMax));
  return sum;
}

}  // namespace

class Producer::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Client& client, PartitionRef partition, const ProducerOptions& options)
      : client_(client),
        partition_(partition),
        id_(options.client.value_or(system_random().next_u128())),
        may_change_id_(!options.client),
        clock_(*options.clock),
        max_buffer_size_(options.limits.max_buffer_size),
        queue_(options.limits, options.first_request) {}

  void send(std::span<const RecordView> records, bool may_wait, Completion<AppendResult> done) {
    const auto bytes = bytes_of(records);
    if (!bytes) return done(fail(bytes.error()));
    if (auto taken = take(records, *bytes, may_wait, done); !taken) return done(fail(std::move(taken).error()));
    pump();
  }

  Result<void> flush(std::chrono::milliseconds deadline) {
    {
      const std::lock_guard lock(mutex_);
      queue_.flush();
    }
    pump();
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, deadline, [this] { return queue_.idle() && answering_ == 0; })) {
      return fail(sluice::Errc::kTimeout, fmt::format("{} bytes are not stored within {} ms", queue_.held_bytes(), deadline.count()));
    }
    if (failure_) return fail(*failure_);
    return {};
  }

  void close() {
    std::vector<Answered> answers;
    {
      std::unique_lock lock(mutex_);
      if (!failure_) failure_ = Error(sluice::Errc::kCancelled, "the producer is gone");
      stop(answers);
      changed_.wait(lock, [this] { return !pumping_; });
      closed_ = true;
    }
    answer(std::move(answers));
  }

  [[nodiscard]] bool stopped() {
    const std::lock_guard lock(mutex_);
    return queue_.stopped();
  }
  [[nodiscard]] std::uint64_t held_bytes() {
    const std::lock_guard lock(mutex_);
    return queue_.held_bytes();
  }

 private:
  struct Send {
    std::uint32_t first = 0;  // record of the batch
    std::uint32_t count = 0;
    Completion<AppendResult> done;
  };
  struct Batch {
    AppendBatch records;
    std::vector<Send> sends;
    std::optional<Error> refused{};  // why it was not written the last time
  };
  struct Answered {
    std::vector<Send> sends;
    Result<AppendResult> stored;
  };

  // `done` is taken if the records are.
  Result<void> take(std::span<const RecordView> records, std::uint64_t bytes, bool may_wait, Completion<AppendResult>& done) {
    std::unique_lock lock(mutex_);
    SLUICE_CHECK(admit(lock, bytes, may_wait));
    Batch& batch = batches_[queue_.newest()];
    const std::uint32_t first = batch.records.count();
    for (const RecordView& record : records) {
      const auto added = batch.records.add(record);
      SLUICE_ASSERT(added.has_value(), "{}", added.error().to_string());
    }
    batch.sends.push_back({first, batch.records.count() - first, std::move(done)});
    return {};
  }

  Result<void> admit(std::unique_lock<std::mutex>& lock, std::uint64_t bytes, bool may_wait) {
    const auto deadline = std::chrono::steady_clock::now() + kOperationDeadline;
    for (bool pumped = false;;) {
      switch (queue_.admit(bytes, clock_.monotonic())) {
        case ProducerQueue::Admission::kJoined:
        case ProducerQueue::Admission::kOpened:
          return {};
        case ProducerQueue::Admission::kStopped:
          return fail(*failure_);
        case ProducerQueue::Admission::kTooLarge:
          return fail(Errc::kExceedsBuffer, fmt::format("a send of {} bytes, max_buffer_size is {}", bytes, max_buffer_size_));
        case ProducerQueue::Admission::kFull:
          break;
      }
      if (!std::exchange(pumped, true)) {  // what lingered goes now
        lock.unlock();
        pump();
        lock.lock();
      } else if (!may_wait) {
        return fail(Errc::kBufferFull, fmt::format("{} of {} bytes wait to be written, a send of {} has no room", queue_.held_bytes(),
                                                   max_buffer_size_, bytes));
      } else if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) {
        return fail(sluice::Errc::kTimeout, fmt::format("no room for a send of {} bytes within {} s", bytes, kOperationDeadline.count()));
      }
    }
  }

  // Writes what is due. One call at a time does, so that batches reach the log in their order; another one leaves it to that.
  void pump() {
    std::unique_lock lock(mutex_);
    if (pumping_ || closed_) return;
    pumping_ = true;
    while (const auto number = queue_.next(clock_.monotonic())) {
      const Batch& waiting = batches_.at(*number);  // nothing changes it until it is answered
      const RequestId request{id_, RequestNumber(*number - before_id_)};
      lock.unlock();
      AppendBatch records = waiting.records;  // it may have to be written again
      records.set_request(request);
      client_.append(partition_, std::move(records),
                     [self = shared_from_this(), n = *number](Result<AppendResult> stored) { self->on_answer(n, std::move(stored)); });
      lock.lock();
    }
    std::vector<Answered> answers;
    if (const auto number = queue_.give_up(clock_.monotonic())) {
      Batch batch = std::move(batches_.extract(*number).mapped());
      failure_ = std::move(batch.refused);
      answers.push_back({std::move(batch.sends), fail(*failure_)});
      stop(answers);
      ++answering_;
    }
    set_alarm();
    pumping_ = false;
    if (queue_.stopped()) changed_.notify_all();
    lock.unlock();
    if (!answers.empty()) finish(std::move(answers));
  }

  // Of answers that are counted in answering_.
  void finish(std::vector<Answered> answers) {
    answer(std::move(answers));
    const std::lock_guard lock(mutex_);
    --answering_;
    changed_.notify_all();
  }

  void set_alarm() {
    const auto at = queue_.wake_at();
    if (!at || (alarm_ && *alarm_ <= *at)) return;
    alarm_ = at;
    const auto delay = std::max(*at - clock_.monotonic(), std::chrono::nanoseconds(0));
    client_.after(partition_, delay, [self = shared_from_this(), at] {
      {
        const std::lock_guard lock(self->mutex_);
        if (self->alarm_ == at) self->alarm_.reset();
      }
      self->pump();
    });
  }

  void on_answer(RequestNumber number, Result<AppendResult> stored) {
    std::vector<Answered> answers;
    {
      const std::lock_guard lock(mutex_);
      const bool forgotten = is_forgotten(number, stored);
      if (queue_.answered(number, forgotten ? ProducerQueue::Answer::kAgain : to_answer(stored), clock_.monotonic())) {
        // What was behind a failure was refused for that.
        if (!stored && failure_ && is_out_of_sequence(stored.error())) stored = fail(*failure_);
        if (!stored && !failure_) failure_ = stored.error();
        answers.push_back({std::move(batches_.extract(number).mapped().sends), std::move(stored)});
      } else {
        batches_.at(number).refused = std::move(stored).error();
        if (forgotten) change_id(number);
      }
      if (queue_.stopped()) stop(answers);
      ++answering_;
    }
    finish(std::move(answers));
    pump();
  }

  // Whether others have pushed this producer out of the partition's table while it wrote nothing. Whoever names a client's id counts on
  // it; else another one does as well, because everything before this batch has its answer, and so has each attempt to write it.
  [[nodiscard]] bool is_forgotten(RequestNumber number, const Result<AppendResult>& stored) const {
    return may_change_id_ && !stored && stored.error().is(Errc::kProducerUnknown) && number == queue_.oldest();
  }
  void change_id(RequestNumber first) {
    id_ = system_random().next_u128();
    before_id_ = first - 1;
  }

  void stop(std::vector<Answered>& answers) {
    for (const RequestNumber number : queue_.stop()) {
      answers.push_back({std::move(batches_.extract(number).mapped().sends), fail(*failure_)});
    }
  }

  static void answer(std::vector<Answered> answers) {
    for (Answered& batch : answers) {
      for (Send& send : batch.sends) {
        if (!batch.stored) {
          send.done(fail(batch.stored.error()));
        } else {
          const Offset base = batch.stored->base_offset + send.first;
          send.done(AppendResult{base, base + send.count});
        }
      }
    }
  }

  Client& client_;
  const PartitionRef partition_;
  ClientId id_;
  const bool may_change_id_;
  RequestNumber before_id_{0};  // of the queue; its next one is request 1 of id_
  const Clock& clock_;
  const std::uint64_t max_buffer_size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  ProducerQueue queue_;
  std::unordered_map<RequestNumber, Batch> batches_;  // of the queue
  std::optional<ProducerQueue::Instant> alarm_;
  std::optional<Error> failure_;  // why the queue is stopped
  std::uint32_t answering_ = 0;
  bool pumping_ = false;
  bool closed_ = false;
};

Producer::Producer(Client& client, PartitionRef partition, ProducerOptions options)
    : impl_(std::make_shared<Impl>(client, partition, options)) {}

Producer::~Producer() {
  impl_->close();
}

void Producer::send(std::span<const RecordView> records, Completion<AppendResult> done) {
  impl_->send(records, /*may_wait=*/true, std::move(done));
}

void Producer::try_send(std::span<const RecordView> records, Completion<AppendResult> done) {
  impl_->send(records, /*may_wait=*/false, std::move(done));
}

Result<void> Producer::flush(std::chrono::milliseconds deadline) {
  return impl_->flush(deadline);
}

bool Producer::stopped() const {
  return impl_->stopped();
}

std::uint64_t Producer::held_bytes() const {
  return impl_->held_bytes();
}

}  // namespace sluice::client
