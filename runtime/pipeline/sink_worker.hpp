// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "runtime/pipeline/outcome_window.hpp"
#include "runtime/pipeline/rate_limit.hpp"
#include "runtime/pipeline/sink_batch.hpp"
#include "runtime/pipeline/sink_slot.hpp"
#include "runtime/pipeline/worker.hpp"

namespace sluice::pipeline {

inline constexpr std::uint64_t kReadAheadBytesMax = 64ULL << 20;  // of one sink, over all its partitions
inline constexpr std::uint64_t kReadBytesMin = 64ULL << 10;       // of one read, however many partitions share the above
inline constexpr std::chrono::milliseconds kReadWaitMax{1000};
inline constexpr std::chrono::milliseconds kFlushIntervalMax{1000};  // what was accepted is flushed by then, also under load
inline constexpr std::size_t kBuryRecordsMax = 200;                  // dead letters of one append
inline constexpr std::uint64_t kBuryBytesMax = 8ULL << 20;           // further ones wait once an append holds as much

// Serves all partitions of a sink's streams with one instance: reads ahead, writes in turn, buries what cannot be delivered, flushes, and
// commits what is durable. All decisions about records are the lanes'; everything else about time and order is here. Thread: as Worker.
class SinkWorker final : public Worker {
 public:
  explicit SinkWorker(WorkerContext context);
  ~SinkWorker() override;

  // Feeds this connector its dead letters again: one, or all from where the last redrive ended. The answer is how many were taken on; a
  // broken promise means that the session ended first. [any thread]
  [[nodiscard]] std::future<Result<std::uint64_t>> redrive(std::optional<Offset> only);

 private:
  Ending work(const std::shared_ptr<plugin::LoadedPlugin>& plugin) override;

  // sink_start.cpp
  [[nodiscard]] std::optional<Ending> check_promises();
  [[nodiscard]] std::optional<Ending> prepare_topics();
  [[nodiscard]] std::optional<Ending> open_instance(const std::shared_ptr<plugin::LoadedPlugin>& plugin);
  [[nodiscard]] std::optional<Ending> begin_assignments();
  [[nodiscard]] std::optional<plugin::Outcome> begin_assignment(const client::TopicInfo& topic, const client::PartitionInfo& partition);
  [[nodiscard]] std::optional<Ending> assign();
  // `buried`: offsets below resume_next that are dead letters already.
  void add_slot(const plugin::Assignment& part, const client::GroupPosition& position, Offset resume_next, Offset log_end,
                std::set<Offset> buried = {});
  [[nodiscard]] LaneOptions lane_options() const;

  // sink_position.cpp
  [[nodiscard]] Result<bool> never_had_any(const plugin::Assignment& part, Offset resume_next, const client::GroupPosition& position) const;
  [[nodiscard]] std::optional<plugin::Outcome> judge_position(const plugin::Assignment& part, Offset resume_next,
                                                              const client::GroupPosition& position, Offset log_end) const;
  // Dead letters of [committed_next, resume_next): a crash may have come between a letter and the commit of its offset.
  [[nodiscard]] Result<std::set<Offset>> buried_before(const plugin::Assignment& part, Offset resume_next) const;

  // sink_worker.cpp
  [[nodiscard]] Ending serve();
  void advance(Instant now);
  [[nodiscard]] bool write_next(Instant now);
  void write(SinkSlot& slot);
  void after_write(SinkSlot& slot, const plugin::WriteReport& report, const LaneVerdict& verdict, Instant now);
  [[nodiscard]] bool flush_due(Instant now) const;
  void flush(Instant now);
  [[nodiscard]] Instant wake_at(Instant now) const;
  void pause();
  void wind_down();
  void show(Instant now);
  void show_slot(const SinkSlot& slot, PartitionStatus& shown) const;
  void fail_session(plugin::Outcome outcome, bool restartable);
  void connector_failed(RetrySchedule& retry, const plugin::Outcome& outcome, Instant now);
  // What holds the connector as a whole back, or null.
  [[nodiscard]] const RetrySchedule* holdup() const;

  // sink_core_io.cpp: what is asked of the core, and its answers.
  void read_ahead(SinkSlot& slot, Instant now);
  void on_read(SinkSlot& slot, Result<client::UndecodedRead> found);
  void on_read_failed(SinkSlot& slot, const Error& error);
  void commit(SinkSlot& slot, Instant now);
  void on_commit(SinkSlot& slot, Result<void> result);
  void bury(SinkSlot& slot, Instant now);
  void on_buried(SinkSlot& slot, std::size_t count, Result<client::AppendResult> result);
  void core_failed(RetrySchedule& retry, const Error& error);

  // sink_redrive.cpp
  [[nodiscard]] Result<std::uint64_t> begin_redrive(std::optional<Offset> only);
  [[nodiscard]] Result<void> check_redrivable(client::PartitionRef partition, Offset offset);
  [[nodiscard]] client::ReadResult unwrap_dead_letters(SinkSlot& slot, client::ReadResult result);
  void revoke_dead_letters(client::PartitionRef ref);
  void end_redrive_if_done();

  std::shared_ptr<plugin::SinkInstance> instance_;
  plugin::ConnectorDescriptor descriptor_;
  client::TopicInfo dead_letters_;
  std::vector<client::TopicName> topics_;
  struct Begun {
    plugin::Assignment part;
    client::GroupPosition position;
    Offset log_end;
  };
  std::vector<Begun> begun_;                      // between begin_assignments() and assign()
  std::vector<std::unique_ptr<SinkSlot>> slots_;  // a redrive of dead letters is one more, the last
  std::size_t next_slot_ = 0;
  SinkBatch sink_batch_;
  LaneBatch batch_;
  OutcomeWindow window_;
  RateLimit rate_;
  std::uint64_t read_bytes_max_ = 0;
  std::optional<Instant> unflushed_since_;
  RetrySchedule flush_retry_;                 // apart from retry_: a write that was taken does not mend a disk that is full
  std::optional<Problem> connector_problem_;  // why retry_ or flush_retry_ waits
  std::optional<Ending> ending_;
  bool winding_down_ = false;
};

}  // namespace sluice::pipeline
