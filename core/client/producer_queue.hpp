// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/ids.hpp"
#include "core/entry/limits.hpp"

namespace sluice::client {

// What one entry holds of records: no batch is larger.
inline constexpr std::uint64_t kBatchBytesMax = entry::kEntryBytesMax - entry::kEntryHeaderBytes;
inline constexpr std::chrono::seconds kLingerMax{10};

struct ProducerLimits {
  std::uint64_t max_buffer_size = 64ULL << 20;  // bytes of records from admission until their write has completed; 0 = unlimited
  std::uint64_t max_in_flight = 8;              // batches that are being written; 0 = unlimited
  std::uint64_t batch_bytes = 1ULL << 20;       // a batch with as many bytes does not wait for more records
  std::chrono::nanoseconds linger_max = std::chrono::milliseconds(5);  // a smaller one does, so long from its first record, ≤ kLingerMax
  std::chrono::nanoseconds retry_pause = std::chrono::milliseconds(10);
  // From a batch's first write; then its last error is final, also if one before it waits in the log and so it cannot be tried.
  std::chrono::nanoseconds retry_for = std::chrono::seconds(30);
};

// The decisions of a producer: which sends share a batch, what is written when, who holds how many bytes. Sees sizes and numbers only; no
// clock, thread or I/O. Sends enter batches in their order, batches have dense request numbers and are written in their order. A send joins
// the newest batch until that is written, so sends merge while the window is full; one that does not fit opens the next. After a refusal
// everything behind it is written again, in order, once nothing is in flight any more.
class ProducerQueue {
 public:
  using Instant = Clock::Monotonic;

  enum class Admission : std::uint8_t {
    kJoined,    // the newest batch
    kOpened,    // a new batch, which is the newest now
    kFull,      // no room before something is written; nothing waits for more records any longer
    kTooLarge,  // there will never be room
    kStopped,   // a batch failed for good, or stop() was called
  };
  enum class Answer : std::uint8_t {
    kWritten,
    kAgain,          // not written, may be later
    kOutOfSequence,  // not written, because one before it was not
    kFailed,
  };

  ProducerQueue(const ProducerLimits& limits, RequestNumber first);

  [[nodiscard]] Admission admit(std::uint64_t bytes, Instant now);
  // Nothing that was admitted waits for more records.
  void flush();
  // The next batch to write, which is in flight from now on until answered().
  [[nodiscard]] std::optional<RequestNumber> next(Instant now);
  // A batch that was refused, cannot be tried while another one is in flight, and may not wait for that any longer. It was its end, and
  // nothing is written any more. Ask after next().
  [[nodiscard]] std::optional<RequestNumber> give_up(Instant now);
  // When next() or give_up() may have one without another call. Nothing: not before another call.
  [[nodiscard]] std::optional<Instant> wake_at() const;
  // Of a batch in flight. Whether that was its end: its bytes are free then.
  [[nodiscard]] bool answered(RequestNumber number, Answer answer, Instant now);
  // The end: nothing more is admitted or written. What will not be written, and whose bytes are free.
  [[nodiscard]] std::vector<RequestNumber> stop();

  [[nodiscard]] RequestNumber newest() const { return first_ + (batches_.size() - 1); }  // of a queue that is not idle
  [[nodiscard]] RequestNumber oldest() const { return first_; }                          // likewise
  [[nodiscard]] bool idle() const { return batches_.empty(); }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }
  [[nodiscard]] std::uint64_t in_flight() const { return in_flight_; }

 private:
  enum class Place : std::uint8_t { kWaiting, kInFlight, kDone };
  struct Batch {
    std::uint64_t bytes = 0;
    Instant opened_at{};
    std::optional<Instant> first_written_at{};
    Place place = Place::kWaiting;
    bool lingers = true;
  };

  [[nodiscard]] const Batch* next_waiting() const;
  [[nodiscard]] bool is_due(const Batch& batch, Instant now) const;
  [[nodiscard]] bool window_is_full() const { return limits_.max_in_flight != 0 && in_flight_ >= limits_.max_in_flight; }
  [[nodiscard]] Batch& at(RequestNumber number) { return batches_[number - first_]; }
  void put_back(Batch& batch, Instant now);
  void release(Batch& batch);

  ProducerLimits limits_;
  RequestNumber first_;  // number of the first of:
  std::deque<Batch> batches_;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t in_flight_ = 0;
  std::optional<Instant> resume_at_;  // after a refusal: not before this, and not with anything in flight
  bool stopped_ = false;
};

}  // namespace sluice::client
