// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/pipeline/sink_worker.hpp"
#include "runtime/pipeline/worker.hpp"

namespace sluice::pipeline {

// One connector for as long as the daemon lives: its thread, one worker session after another, and the restart policy between them.
// Thread-safe. Life: start → … → request_stop → wait_finished (cancel, abandon) → join. An abandoned one keeps itself alive with its
// thread, for ever.
class Runner : public std::enable_shared_from_this<Runner> {
 public:
  Runner(WorkerContext context, bool paused);

  void start();

  [[nodiscard]] ConnectorStatus snapshot() const { return context_.board->snapshot(); }
  [[nodiscard]] const config::ConnectorConfig& config() const { return *context_.config; }

  [[nodiscard]] bool paused() const;
  void set_paused(bool paused);
  // Ends the session by `deadline` and begins another. Answers the session that is to end, an expired pointer if there is none, or nothing
  // if a restart is under way already.
  [[nodiscard]] std::optional<std::weak_ptr<Worker>> request_restart(Instant deadline);
  void request_stop(Instant deadline);
  [[nodiscard]] bool wait_finished(Instant until);
  void cancel();
  // Gives up a plugin call that does not return. False if none is running: then the thread ends by itself.
  [[nodiscard]] bool abandon();
  // The same for one session: false also if it is not the current one any more.
  [[nodiscard]] bool abandon(const std::shared_ptr<Worker>& session);
  [[nodiscard]] bool abandoned() const;
  // After wait_finished() answered true; for one that was abandoned the thread is left behind.
  void join();

  // Errors: pipeline.busy if no session of a sink runs.
  [[nodiscard]] Result<std::uint64_t> redrive(std::optional<Offset> only);

 private:
  void run();
  // False: it is over.
  [[nodiscard]] bool between_sessions(const Ending& ending, Instant session_began);
  [[nodiscard]] std::shared_ptr<Worker> current() const;

  WorkerContext context_;
  RetrySchedule restart_retry_;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Worker> worker_;
  std::shared_ptr<SinkWorker> sink_;  // the same, if it is a sink
  bool paused_ = false;
  bool stop_ = false;
  bool restart_ = false;
  bool finished_ = false;
  bool abandoned_ = false;
  Instant stop_deadline_{0};
};

}  // namespace sluice::pipeline
