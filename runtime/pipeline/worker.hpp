// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "core/client/client.hpp"
#include "runtime/base/logging.hpp"
#include "runtime/config/connector_config.hpp"
#include "runtime/pipeline/call_gate.hpp"
#include "runtime/pipeline/inbox.hpp"
#include "runtime/pipeline/retry_schedule.hpp"
#include "runtime/pipeline/status_board.hpp"
#include "runtime/plugin/instance.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::pipeline {

using LoadPlugin = std::function<Result<std::shared_ptr<plugin::LoadedPlugin>>(const std::string& plugin)>;

// What a worker is given. Everything pointed to outlives it.
struct WorkerContext {
  client::Client* client = nullptr;
  LoadPlugin load;
  std::shared_ptr<const config::ConnectorConfig> config;
  std::shared_ptr<StatusBoard> board;
  U128 cluster_id;
  RetryPolicies retries;
  std::chrono::milliseconds shutdown_deadline{30'000};  // for winding down after a failure
  Clock* clock = &system_clock();
};

// How a worker's session ended.
struct Ending {
  std::optional<plugin::Outcome> failure;  // nothing: it was asked to stop
  bool restartable = true;                 // by policy, without anybody changing anything
};

// One session of one connector: from the creation of its plugin instance to its destruction. run() is called once, on the worker's thread,
// and every call into the plugin is made there; the other functions are for any thread, at any time of the object's life.
class Worker {
 public:
  explicit Worker(WorkerContext context);
  virtual ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] Ending run();

  // Drain and end by `deadline`. The first deadline counts.
  void stop(Instant deadline);
  void set_paused(bool paused);
  // Makes the running and every later call of the plugin return soon.
  void cancel();
  // Gives up the running call, for ever: run() does not return then. False if no call was running.
  [[nodiscard]] bool abandon();

 protected:
  // Everything after the plugin was loaded. Ends with the instance destroyed.
  virtual Ending work(const std::shared_ptr<plugin::LoadedPlugin>& plugin) = 0;

  // From now on cancel() and abandon() reach the instance, and the board shows its metrics.
  void watch(const std::shared_ptr<plugin::Instance>& instance);
  // Destroys the instance, to which the worker has no other reference.
  void destroy(std::shared_ptr<plugin::Instance> instance);

  // Repeats `attempt` (attempt number → failure or nothing) until it succeeds, waiting between attempts. Returns an ending if it was asked
  // to stop or the failure is one that waiting does not mend. Visible as `connecting` and `retrying`; makes no attempt while paused.
  [[nodiscard]] std::optional<Ending> persist(const std::function<std::optional<plugin::Outcome>(std::uint32_t)>& attempt);
  // Waits while the connector is paused; answers of the core are taken meanwhile.
  void wait_while_paused();
  // Lets `until` pass, or less if something arrives.
  void wait(Instant until) { inbox_->run(until); }

  // A call into the plugin that is expected to bring something forward.
  template <typename Function>
  auto call(Function&& function) {
    context_.board->update([](ConnectorStatus&, StateTracker& tracker, Instant now) { tracker.call_begins(now); });
    auto result = gate_.pass(std::forward<Function>(function));
    context_.board->update([](ConnectorStatus&, StateTracker& tracker, Instant) { tracker.call_ends(); });
    return result;
  }
  [[nodiscard]] plugin::CallOptions call_options(std::uint32_t attempt = 1) const;
  [[nodiscard]] plugin::InstanceOptions instance_options();
  [[nodiscard]] Result<client::TopicInfo> ensure_topic(const client::TopicName& name, const client::TopicOptions& options);
  // A fault of the plugin's configuration is shown with its place in the file.
  [[nodiscard]] Ending failed(plugin::Outcome outcome, bool restartable);
  // Fatal and invalid_config are never restarted by policy.
  [[nodiscard]] Ending failed(plugin::Outcome outcome);

  [[nodiscard]] Instant now() const { return context_.clock->monotonic(); }
  [[nodiscard]] const config::ConnectorConfig& config() const { return *context_.config; }
  [[nodiscard]] bool stopping() const { return stopping_.load(std::memory_order_acquire); }
  [[nodiscard]] bool paused() const { return paused_.load(std::memory_order_acquire); }
  [[nodiscard]] bool woken() const { return woken_->load(std::memory_order_acquire); }
  // When everything must have ended: as told, or from the first time of asking.
  [[nodiscard]] Instant end_by();

  WorkerContext context_;
  logging::Logger log_;
  SeededRandom random_;
  std::shared_ptr<Inbox> inbox_;
  std::shared_ptr<std::atomic<bool>> woken_;  // the plugin has something to poll
  RetrySchedule retry_;                       // of the connector as a whole
  CallGate gate_;

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<bool> paused_{false};
  std::atomic<Instant::rep> deadline_{0};  // 0 = none yet
  std::shared_ptr<plugin::Instance> watched_;
  std::mutex watched_mutex_;
};

}  // namespace sluice::pipeline
