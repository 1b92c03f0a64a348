// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/runner.hpp"

#include <pthread.h>

#include <vector>

#include <fmt/format.h>

#include "runtime/pipeline/source_worker.hpp"
#include "runtime/pipeline/supervisor.hpp"

namespace sluice::pipeline {

namespace {

constexpr std::size_t kThreadNameMax = 15;             // of the kernel
constexpr std::chrono::seconds kRedriveAnswerMax{10};  // a sink that hangs in a call does not take requests

std::chrono::steady_clock::time_point time_point_of(Instant at) {
  return std::chrono::steady_clock::time_point{std::chrono::duration_cast<std::chrono::steady_clock::duration>(at)};
}

// Whoever is in a call that never returns cannot be joined. Reachable for the rest of the process, on purpose.
void leave_behind(std::thread thread) {
  static std::mutex mutex;
  static auto* const threads = new std::vector<std::thread>;
  const std::lock_guard lock(mutex);
  threads->push_back(std::move(thread));
}

}  // namespace

Runner::Runner(WorkerContext context, bool paused)
    : context_(std::move(context)),
      restart_retry_(
          RetryPolicy{.max_attempts = UINT32_MAX, .base_delay = config().restart.base_delay, .max_delay = config().restart.max_delay}),
      paused_(paused) {}

void Runner::start() {
  thread_ = std::thread([self = shared_from_this()] { self->run(); });
  ::pthread_setname_np(thread_.native_handle(), config().key.substr(0, kThreadNameMax).c_str());
}

void Runner::run() {
  for (;;) {
    std::shared_ptr<Worker> worker;
    {
      const std::lock_guard lock(mutex_);
      restart_ = false;
      if (stop_) break;
      if (config().type == config::ConnectorType::kSink) {
        sink_ = std::make_shared<SinkWorker>(context_);
        worker_ = sink_;
      } else {
        worker_ = std::make_shared<SourceWorker>(context_);
      }
      worker_->set_paused(paused_);
      worker = worker_;
    }
    const Instant began = context_.clock->monotonic();
    const Ending ending = worker->run();
    {
      const std::lock_guard lock(mutex_);
      worker_.reset();
      sink_.reset();
    }
    worker.reset();
    if (!between_sessions(ending, began)) break;
  }
  context_.board->enter(StateTracker::Phase::kStopped);
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

bool Runner::between_sessions(const Ending& ending, Instant session_began) {
  std::unique_lock lock(mutex_);
  if (stop_) return false;
  if (ending.failure && !restart_) {
    context_.board->enter(StateTracker::Phase::kError);
    const auto called = [&] { return stop_ || restart_; };
    if (ending.restartable && config().restart.enabled) {
      const Instant now = context_.clock->monotonic();
      if (now - session_began > config().restart.max_delay) restart_retry_.succeeded();
      restart_retry_.failed(now, system_random().next());
      context_.board->update([&](ConnectorStatus&, StateTracker& tracker, Instant) { tracker.set_retry(restart_retry_.due_at()); });
      changed_.wait_until(lock, time_point_of(restart_retry_.due_at()), called);
    } else {
      changed_.wait(lock, called);
    }
  }
  if (restart_) restart_retry_.succeeded();
  if (!stop_)
    context_.board->update([](ConnectorStatus& status, StateTracker& tracker, Instant) {
      ++status.restarts;
      tracker.clear_retry();
    });
  return !stop_;
}

std::shared_ptr<Worker> Runner::current() const {
  const std::lock_guard lock(mutex_);
  return worker_;
}

bool Runner::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

void Runner::set_paused(bool paused) {
  const std::lock_guard lock(mutex_);
  paused_ = paused;
  if (worker_) worker_->set_paused(paused);
}

std::optional<std::weak_ptr<Worker>> Runner::request_restart(Instant deadline) {
  const std::lock_guard lock(mutex_);
  if (restart_) return std::nullopt;
  restart_ = true;
  if (worker_) worker_->stop(deadline);
  changed_.notify_all();
  return worker_;
}

void Runner::request_stop(Instant deadline) {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  stop_deadline_ = deadline;
  if (worker_) worker_->stop(deadline);
  changed_.notify_all();
}

bool Runner::wait_finished(Instant until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, time_point_of(until), [&] { return finished_ || abandoned_; });
  return finished_;
}

void Runner::cancel() {
  if (const auto worker = current()) worker->cancel();
}

bool Runner::abandon() {
  return abandon(current());
}

bool Runner::abandon(const std::shared_ptr<Worker>& session) {
  if (!session || session != current() || !session->abandon()) return false;
  plugin::Outcome outcome;
  outcome.code = error_info(Errc::kAbandoned).name;
  outcome.text = "a call into the plugin did not return, not even after it was cancelled, and was given up";
  outcome.hint = "The connector can start again only in a new process: restart the daemon.";
  context_.board->report(outcome);
  context_.board->enter(StateTracker::Phase::kError);
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
  return true;
}

bool Runner::abandoned() const {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

void Runner::join() {
  if (!thread_.joinable()) return;
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    ended = finished_;
  }
  if (ended) {
    thread_.join();
  } else {
    leave_behind(std::move(thread_));
  }
}

Result<std::uint64_t> Runner::redrive(std::optional<Offset> only) {
  std::shared_ptr<SinkWorker> sink;
  {
    const std::lock_guard lock(mutex_);
    sink = sink_;
  }
  if (!sink) return fail(Errc::kBusy, fmt::format("{} does not run", config().key));
  auto answer = sink->redrive(only);
  sink.reset();
  if (answer.wait_for(kRedriveAnswerMax) != std::future_status::ready) {
    return fail(Errc::kBusy, fmt::format("{} did not answer within {} s; the dead letters may still be taken on", config().key,
                                         kRedriveAnswerMax.count()));
  }
  try {
    return answer.get();
  } catch (const std::future_error&) {
    return fail(Errc::kBusy, fmt::format("{} stopped meanwhile", config().key));
  }
}

}  // namespace sluice::pipeline
