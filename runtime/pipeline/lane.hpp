// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/base/random.hpp"
#include "core/base/result.hpp"
#include "core/client/client.hpp"
#include "runtime/config/connector_config.hpp"
#include "runtime/pipeline/outcome_window.hpp"
#include "runtime/pipeline/partition_progress.hpp"
#include "runtime/pipeline/retry_schedule.hpp"
#include "runtime/plugin/sink_instance.hpp"

namespace sluice::pipeline {

struct LaneOptions {
  config::Ordering ordering = config::Ordering::kPartition;
  config::FailureConfig failure;
  config::BatchingConfig batching;
  RetryPolicy record_delays = RetryPolicies{}.record;
  // The sink has a durable position of its own: a failed record must end the attempt, else that position would cover it.
  bool own_positions = false;
  // Nothing is written while something durable is not committed yet, so that a crash repeats one batch at most.
  bool commit_before_next = true;
};

// Records of one partition on their way into one write call. Views stay valid while the batch lives.
struct LaneBatch {
  struct Item {
    const client::LogRecord* record;
    std::uint32_t owner;  // index in owners
  };
  std::vector<Item> items;
  std::vector<std::shared_ptr<const void>> owners;
  std::uint64_t bytes = 0;
  std::uint32_t attempt = 1;
  bool offered_before = false;  // items are the lane's waiting records, else fresh ones

  void clear();
};

// A record that is to become a dead letter.
struct DoomedRecord {
  const client::LogRecord* record;
  std::shared_ptr<const void> owner;
  plugin::Outcome outcome;
  std::uint32_t attempts = 1;
};

// What a write came to, beyond what the lane keeps for itself.
struct LaneVerdict {
  std::uint64_t taken = 0;                           // records that the sink took
  std::uint64_t ambiguous = 0;                       // records that may have been delivered and will be again
  std::uint64_t retries = 0;                         // records that will be tried again
  std::optional<plugin::Outcome> record_failure;     // the last one, for the status
  std::optional<plugin::Outcome> connector_failure;  // scope connector: everything waits, nothing moves
  std::optional<plugin::Outcome> stop;               // the connector goes to `error`
};

// One partition of a sink: what was read and waits, what may be sent next, what failed and when it is due, what may be committed. Every
// decision of delivery is made here; the worker only carries it out. Pure: time and randomness are passed in. Owned by the worker, worker
// thread.
class Lane {
 public:
  static constexpr std::size_t kWaitingRecordsMax = 1000;  // ordering key and none: beyond it nothing fresh is offered

  // `resume_next` ≥ committed_next: what the sink has below it is counted as delivered and not written, except for offsets of `buried`,
  // which are dead letters.
  Lane(LaneOptions options, PartitionProgress progress, Offset resume_next, std::set<Offset> buried = {});

  // --- reading
  [[nodiscard]] Offset read_next() const { return progress_.read_next(); }
  // Missing offsets get the fate `hole`. Errors: base.internal if there are others than gap_offsets says; nothing is taken then.
  [[nodiscard]] Result<void> add(std::shared_ptr<const client::ReadResult> result, Instant now, Fate hole = Fate::kGap);
  // Retention removed [read_next, earliest). Returns how many.
  std::uint64_t expire(Offset earliest);
  [[nodiscard]] std::uint64_t queued_records() const { return fresh_records_ + waiting_.size() + doomed_.size(); }
  [[nodiscard]] std::uint64_t queued_bytes() const { return fresh_bytes_ + waiting_bytes_; }
  [[nodiscard]] std::uint64_t fresh_records() const { return fresh_records_; }

  // --- writing
  // Fills `batch` with what may be sent now, at most `records_max` records. False: nothing now; next_at() says when to ask again.
  [[nodiscard]] bool take(Instant now, std::uint64_t records_max, LaneBatch& batch);
  [[nodiscard]] std::optional<Instant> next_at(Instant now) const;
  // Must follow each successful take().
  [[nodiscard]] LaneVerdict wrote(const LaneBatch& batch, const plugin::WriteReport& report, OutcomeWindow& window, Instant now,
                                  Random& random);
  void durable(Offset durable_next);
  void flushed();
  [[nodiscard]] bool unflushed() const { return progress_.count(Fate::kAccepted) > 0; }
  [[nodiscard]] bool must_flush() const;

  // --- dead letters, in order of failure; nothing is sent while there are any
  [[nodiscard]] const std::deque<DoomedRecord>& doomed() const { return doomed_; }
  void buried(std::size_t count);

  // --- committing
  [[nodiscard]] std::optional<PartitionProgress::Commit> begin_commit();
  void commit_succeeded();
  void commit_failed() { commit_.reset(); }
  [[nodiscard]] bool commit_in_flight() const { return commit_.has_value(); }

  [[nodiscard]] const PartitionProgress& progress() const { return progress_; }
  // The first record that waits after a failure.
  struct Holdup {
    std::uint32_t attempts;
    Instant due_at;
  };
  [[nodiscard]] std::optional<Holdup> holdup() const;

 private:
  struct Fresh {
    std::shared_ptr<const client::ReadResult> result;
    std::size_t next = 0;  // first record not taken
    Instant arrived;
  };
  struct Waiting {
    const client::LogRecord* record;
    std::shared_ptr<const void> owner;
    RecordRetry retry;
  };

  [[nodiscard]] bool take_waiting(Instant now, std::uint64_t records_max, LaneBatch& batch);
  [[nodiscard]] bool take_fresh(Instant now, std::uint64_t records_max, LaneBatch& batch);
  [[nodiscard]] bool lingers(Instant now) const;
  [[nodiscard]] bool key_waits(const client::LogRecord& record) const;
  void accept(const LaneBatch& batch, const std::vector<bool>& untaken, Offset accepted_next);
  void judge(Waiting&& failed, const plugin::Outcome& outcome, OutcomeWindow& window, LaneVerdict& verdict, Instant now, Random& random);
  void dispose(Waiting&& failed, const plugin::Outcome& outcome, config::Disposition disposition, OutcomeWindow& window,
               LaneVerdict& verdict);
  void wait(Waiting&& waiting);
  [[nodiscard]] static Waiting copied(const client::LogRecord& record);
  [[nodiscard]] Waiting hold(const LaneBatch& batch, std::size_t index) const;

  LaneOptions options_;
  PartitionProgress progress_;
  Offset resume_next_;
  std::set<Offset> buried_;
  std::deque<Fresh> fresh_;
  std::uint64_t fresh_records_ = 0;
  std::uint64_t fresh_bytes_ = 0;
  std::deque<Waiting> waiting_;  // by offset
  std::uint64_t waiting_bytes_ = 0;
  std::deque<DoomedRecord> doomed_;
  std::optional<PartitionProgress::Commit> commit_;
  Offset durable_reported_;
  std::uint64_t unacked_bytes_ = 0;
  bool late_accepts_ = false;  // taken below durable_reported_: only a flush proves them safe
};

// Key, payload and headers.
[[nodiscard]] std::uint64_t record_bytes(const RecordView& record);

}  // namespace sluice::pipeline
