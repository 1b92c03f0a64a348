// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/supervisor.hpp"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "runtime/isolation/isolated_plugin.hpp"
#include "runtime/pipeline/audit.hpp"
#include "runtime/pipeline/runner.hpp"
#include "runtime/plugin/loaded_plugin.hpp"

namespace sluice::pipeline {

namespace {

constexpr std::chrono::milliseconds kWatchInterval{20};
constexpr std::chrono::seconds kLeaveHostMax{2};  // for a thread that is on the host's side when the deadline passes

}  // namespace

struct Supervisor::Impl {
  // A connector that has no thread: rejected or disabled.
  struct Idle {
    ConnectorStatus status;
    config::ConnectorConfig config;
  };
  // A restart whose old session must end in time. The next one of the same runner is not meant.
  struct Watched {
    std::shared_ptr<Runner> runner;
    std::weak_ptr<Worker> session;
    Instant cancel_at;
    Instant abandon_at;
    bool cancelled = false;
  };

  explicit Impl(Options given) : options(std::move(given)) {}

  // How the plugin of this connector is had: in this process, or in one of its own.
  [[nodiscard]] LoadPlugin load_for(const config::ConnectorConfig& config) const;
  [[nodiscard]] Instant now() const { return options.clock->monotonic(); }
  [[nodiscard]] Result<std::shared_ptr<Runner>> find(const std::string& key) const;
  [[nodiscard]] Result<config::ConnectorConfig> config_of(const std::string& key) const;
  void watch();
  [[nodiscard]] bool step(Watched& watched);
  void wait_all(const std::vector<std::shared_ptr<Runner>>& runners, Instant until);

  Options options;
  logging::Logger log;
  mutable std::mutex mutex;
  std::map<std::string, std::shared_ptr<Runner>> runners;
  std::map<std::string, Idle> idle;
  std::vector<Watched> watched;
  std::condition_variable watch_changed;
  std::mutex audit_mutex;  // held by the audit that runs
  bool stopping = false;
  bool stopped = false;
  std::thread watcher;
};

LoadPlugin Supervisor::Impl::load_for(const config::ConnectorConfig& config) const {
  if (options.load) return options.load;
  plugin::PluginCatalog* const plugins = options.plugins;
  if (config.isolation == config::Isolation::kInProcess) return [plugins](const std::string& plugin) { return plugins->load(plugin); };
  const isolation::IsolationOptions isolated{.call_timeout = config.process.call_timeout,
                                             .memory_bytes_max = config.process.memory_bytes_max,
                                             .record_bytes_max = config.record_bytes_max};
  return [plugins, isolated](const std::string& plugin) { return isolation::isolate(*plugins, plugin, isolated); };
}

Supervisor::Supervisor(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {
  SLUICE_ASSERT(impl_->options.client != nullptr, "a client is needed");
  SLUICE_ASSERT(impl_->options.load || impl_->options.plugins != nullptr, "a plugin catalog is needed");
}

Supervisor::~Supervisor() {
  SLUICE_ASSERT(impl_->stopped || impl_->runners.empty(), "stop() was not called");
}

void Supervisor::start(std::vector<config::ConnectorConfig> connectors, std::vector<config::RejectedConnector> rejected) {
  Impl& impl = *impl_;
  const auto paused = impl.options.client->paused_connectors();
  // Who was paused must not run because the catalog did not answer.
  if (!paused) impl.log.error("the paused connectors cannot be told, so all start paused: {}", paused.error().to_string());
  const std::lock_guard lock(impl.mutex);
  for (config::RejectedConnector& reject : rejected) {
    // The key may be a guess from the file's name, and somebody's own: both are to be seen, each under a name of its own.
    if (std::ranges::any_of(connectors, [&](const config::ConnectorConfig& config) { return config.key == reject.key; }) ||
        impl.idle.contains(reject.key))
      reject.key = std::filesystem::path(reject.file).filename().string();
    ConnectorStatus status;
    status.key = reject.key;
    status.state = State::kError;
    status.since = impl.options.clock->wall();
    status.last_error = Problem{
        "invalid_config", "connector", "config.rejected", reject.message, "Correct the file and restart the daemon.", 0, status.since};
    impl.log.error("connector {} is not started: {}", reject.key, reject.message);
    impl.idle.insert_or_assign(reject.key, Impl::Idle{std::move(status), {}});
  }
  for (config::ConnectorConfig& config : connectors) {
    WorkerContext context;
    context.client = impl.options.client;
    context.load = impl.load_for(config);
    context.cluster_id = impl.options.cluster_id;
    context.retries = impl.options.retries;
    context.shutdown_deadline = impl.options.shutdown_deadline;
    context.clock = impl.options.clock;
    context.board = std::make_shared<StatusBoard>(config, *impl.options.clock);
    const std::string key = config.key;
    if (!config.enabled) {
      context.board->enter(StateTracker::Phase::kStopped);
      impl.idle.insert_or_assign(key, Impl::Idle{context.board->snapshot(), std::move(config)});
      continue;
    }
    const bool is_paused = !paused || paused->contains(key);
    context.config = std::make_shared<const config::ConnectorConfig>(std::move(config));
    impl.runners.insert_or_assign(key, std::make_shared<Runner>(std::move(context), is_paused));
  }
  for (const auto& [key, runner] : impl.runners) runner->start();
  impl.watcher = std::thread([&impl] { impl.watch(); });
}

Result<std::shared_ptr<Runner>> Supervisor::Impl::find(const std::string& key) const {
  const std::lock_guard lock(mutex);
  if (const auto found = runners.find(key); found != runners.end()) return found->second;
  const auto resting = idle.find(key);
  if (resting == idle.end()) return fail(Errc::kConnectorNotFound, fmt::format("no connector has the key \"{}\"", key));
  if (!resting->second.status.enabled) return fail(Errc::kDisabled, fmt::format("{} is disabled", key));
  return fail(Errc::kBusy, fmt::format("{} does not run: {}", key,
                                       resting->second.status.last_error ? resting->second.status.last_error->text : "it was rejected"));
}

Result<config::ConnectorConfig> Supervisor::Impl::config_of(const std::string& key) const {
  {
    const std::lock_guard lock(mutex);
    if (const auto resting = idle.find(key); resting != idle.end() && !resting->second.status.enabled) return resting->second.config;
  }
  SLUICE_TRY(const auto runner, find(key));
  return runner->config();
}

std::vector<ConnectorStatus> Supervisor::list() const {
  std::map<std::string, ConnectorStatus> all;
  std::vector<std::shared_ptr<Runner>> runners;
  {
    const std::lock_guard lock(impl_->mutex);
    for (const auto& [key, resting] : impl_->idle) all.emplace(key, resting.status);
    for (const auto& [key, runner] : impl_->runners) runners.push_back(runner);
  }
  for (const auto& runner : runners) all.insert_or_assign(runner->config().key, runner->snapshot());
  std::vector<ConnectorStatus> out;
  out.reserve(all.size());
  for (auto& [key, status] : all) out.push_back(std::move(status));
  return out;
}

Result<ConnectorStatus> Supervisor::status(const std::string& key) const {
  {
    const std::lock_guard lock(impl_->mutex);
    if (const auto resting = impl_->idle.find(key); resting != impl_->idle.end()) return resting->second.status;
  }
  SLUICE_TRY(const auto runner, impl_->find(key));
  return runner->snapshot();
}

Result<void> Supervisor::pause(const std::string& key) {
  SLUICE_TRY(const auto runner, impl_->find(key));
  if (runner->paused()) return fail(Errc::kAlreadyPaused, fmt::format("{} is paused already", key));
  // Durable first: a paused connector that runs again after a crash would surprise whoever paused it.
  SLUICE_CHECK(impl_->options.client->set_paused(key, true));
  runner->set_paused(true);
  return {};
}

Result<void> Supervisor::resume(const std::string& key) {
  SLUICE_TRY(const auto runner, impl_->find(key));
  if (!runner->paused()) return fail(Errc::kNotPaused, fmt::format("{} is not paused", key));
  SLUICE_CHECK(impl_->options.client->set_paused(key, false));
  runner->set_paused(false);
  return {};
}

Result<void> Supervisor::restart(const std::string& key) {
  SLUICE_TRY(const auto runner, impl_->find(key));
  if (runner->abandoned()) return fail(Errc::kAbandoned, fmt::format("a call of {} never returned", key));
  const std::lock_guard lock(impl_->mutex);
  if (impl_->stopping) return fail(Errc::kBusy, "the daemon stops");
  const Instant now = impl_->now();
  const Instant deadline = now + impl_->options.shutdown_deadline;
  const auto session = runner->request_restart(deadline);
  if (!session) return fail(Errc::kBusy, fmt::format("a restart of {} is under way", key));
  impl_->watched.push_back({runner, *session, now + impl_->options.shutdown_deadline * 8 / 10, deadline});
  impl_->watch_changed.notify_all();
  return {};
}

// False: nothing is left to watch about it.
bool Supervisor::Impl::step(Watched& it) {
  const std::shared_ptr<Worker> session = it.session.lock();
  if (!session) return false;
  if (!it.cancelled && now() >= it.cancel_at) {
    it.cancelled = true;
    session->cancel();
  }
  if (now() < it.abandon_at) return true;
  const bool given_up = it.runner->abandon(session);
  if (given_up) log.error("{} was abandoned: a call into its plugin never returned", it.runner->config().key);
  return !given_up;
}

void Supervisor::Impl::watch() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (watched.empty()) {
      watch_changed.wait(lock, [&] { return stopping || !watched.empty(); });
    } else {
      watch_changed.wait_for(lock, kWatchInterval, [&] { return stopping; });
    }
    std::vector<Watched> now_watched = std::move(watched);
    watched.clear();
    lock.unlock();
    std::erase_if(now_watched, [&](Watched& it) { return !step(it); });
    lock.lock();
    watched.insert(watched.end(), now_watched.begin(), now_watched.end());
  }
}

Result<std::vector<AuditRow>> Supervisor::audit(const std::string& key, const std::stop_token& stop) const {
  SLUICE_TRY(const auto config, impl_->config_of(key));
  const std::unique_lock only(impl_->audit_mutex, std::try_to_lock);
  if (!only) return fail(Errc::kBusy, "another audit is under way; the log is read by one at a time");
  return config.type == config::ConnectorType::kSink ? audit_sink(*impl_->options.client, config, stop)
                                                     : audit_source(*impl_->options.client, config, stop);
}

Result<std::optional<client::SourceState>> Supervisor::source_state(const std::string& key) const {
  SLUICE_TRY(const auto config, impl_->config_of(key));
  if (config.type != config::ConnectorType::kSource)
    return fail(sluice::Errc::kInvalidArgument, fmt::format("{} is a sink; only sources have a state", key));
  return newest_source_state(*impl_->options.client, config);
}

Result<std::uint64_t> Supervisor::retry_dead_letters(const std::string& key, std::optional<Offset> only) {
  SLUICE_TRY(const auto runner, impl_->find(key));
  if (runner->config().type != config::ConnectorType::kSink) {
    return fail(Errc::kNotRedrivable,
                fmt::format("{} is a source: its dead letters never were in the log, and nothing can take them again", key));
  }
  if (runner->abandoned()) return fail(Errc::kAbandoned, fmt::format("a call of {} never returned", key));
  return runner->redrive(only);
}

void Supervisor::Impl::wait_all(const std::vector<std::shared_ptr<Runner>>& all, Instant until) {
  for (const auto& runner : all) (void)runner->wait_finished(until);
}

StopReport Supervisor::stop() {
  Impl& impl = *impl_;
  std::vector<std::shared_ptr<Runner>> sources, sinks, all;
  {
    const std::lock_guard lock(impl.mutex);
    impl.stopping = true;
    impl.watch_changed.notify_all();
    for (const auto& [key, runner] : impl.runners) {
      (runner->config().type == config::ConnectorType::kSource ? sources : sinks).push_back(runner);
      all.push_back(runner);
    }
  }
  if (impl.watcher.joinable()) impl.watcher.join();

  const Instant began = impl.now();
  const std::chrono::milliseconds total = impl.options.shutdown_deadline;
  // Sources have the first share, so that what they handed out is in the log before the sinks leave.
  for (const auto& runner : sources) runner->request_stop(began + total * 4 / 10);
  impl.wait_all(sources, began + total * 32 / 100);
  for (const auto& runner : sources) runner->cancel();
  impl.wait_all(sources, began + total * 4 / 10);
  for (const auto& runner : sinks) runner->request_stop(began + total * 9 / 10);
  impl.wait_all(sinks, began + total * 8 / 10);
  for (const auto& runner : sinks) runner->cancel();
  impl.wait_all(all, began + total);

  StopReport report;
  for (const auto& runner : all) {
    const Instant leave_by = began + total + kLeaveHostMax;
    while (!runner->wait_finished(impl.now()) && !runner->abandoned() && !runner->abandon() && impl.now() < leave_by) {
      (void)runner->wait_finished(impl.now() + kWatchInterval);
    }
    if (!runner->wait_finished(impl.now())) {
      report.drained = false;
      report.abandoned.push_back(runner->config().key);
      impl.log.error("{} was abandoned: a call into its plugin never returned", runner->config().key);
    }
    runner->join();
  }
  impl.stopped = true;
  return report;
}

}  // namespace sluice::pipeline
