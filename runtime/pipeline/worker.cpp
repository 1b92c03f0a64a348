// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/worker.hpp"

#include <fmt/format.h>

#include "runtime/pipeline/failure.hpp"
#include "runtime/plugin/loaded_plugin.hpp"

namespace sluice::pipeline {

namespace {

// What the plugin's calls to its host come to. Shared with the instance, so it holds nothing that could go away before it.
class ConnectorServices final : public plugin::HostServices {
 public:
  ConnectorServices(std::string key, std::shared_ptr<StatusBoard> board, std::shared_ptr<Inbox> inbox,
                    std::shared_ptr<std::atomic<bool>> woken)
      : log_(std::move(key)), board_(std::move(board)), inbox_(std::move(inbox)), woken_(std::move(woken)) {}

  bool log_enabled(plugin::LogLevel level) override { return logging::enabled(level_of(level)); }
  void log(plugin::LogLevel level, std::string_view, std::uint32_t, std::string_view message) override {
    log_.write(level_of(level), message);
  }
  void wake() override {
    woken_->store(true, std::memory_order_release);
    inbox_->ring();
  }
  void retrying(std::uint32_t attempt, std::chrono::milliseconds wait, const plugin::Outcome& error) override {
    board_->report(error);
    log_.debug("attempt {} failed, the next in {} ms: {}", attempt, wait.count(), error.text);
  }

 private:
  static logging::Level level_of(plugin::LogLevel level) {
    switch (level) {
      case plugin::LogLevel::kTrace:
        return logging::Level::kTrace;
      case plugin::LogLevel::kDebug:
        return logging::Level::kDebug;
      case plugin::LogLevel::kInfo:
        return logging::Level::kInfo;
      case plugin::LogLevel::kWarn:
        return logging::Level::kWarn;
      case plugin::LogLevel::kError:
        return logging::Level::kError;
    }
    return logging::Level::kError;
  }

  logging::Logger log_;
  std::shared_ptr<StatusBoard> board_;
  std::shared_ptr<Inbox> inbox_;
  std::shared_ptr<std::atomic<bool>> woken_;
};

constexpr std::chrono::seconds kIdleWait{5};  // nothing happens on its own while paused

}  // namespace

Worker::Worker(WorkerContext context)
    : context_(std::move(context)),
      log_(context_.config->key),
      random_(system_random().next()),
      inbox_(std::make_shared<Inbox>()),
      woken_(std::make_shared<std::atomic<bool>>(false)),
      retry_(context_.retries.connector) {}

Worker::~Worker() = default;

Ending Worker::run() {
  context_.board->enter(StateTracker::Phase::kStarting);
  wait_while_paused();
  if (stopping()) return {};
  auto loaded = context_.load(config().plugin);
  if (!loaded) {
    plugin::Outcome outcome = to_outcome(loaded.error());
    // The file may be under way; nothing of it runs yet, so another look harms nobody.
    outcome.outcome_class = plugin::OutcomeClass::kTransient;
    return failed(std::move(outcome), /*restartable=*/true);
  }
  Ending ending = work(*loaded);
  inbox_->close();
  return ending;
}

void Worker::stop(Instant deadline) {
  Instant::rep none = 0;
  deadline_.compare_exchange_strong(none, deadline.count());
  stopping_.store(true, std::memory_order_release);
  inbox_->ring();
}

void Worker::set_paused(bool paused) {
  paused_.store(paused, std::memory_order_release);
  inbox_->ring();
}

// Under the lock, so that this thread never has the last reference: destruction is the worker's.
void Worker::cancel() {
  const std::lock_guard lock(watched_mutex_);
  if (watched_) watched_->cancel();
}

bool Worker::abandon() {
  if (!gate_.give_up()) return false;
  const std::lock_guard lock(watched_mutex_);
  if (watched_) watched_->abandon();
  return true;
}

void Worker::watch(const std::shared_ptr<plugin::Instance>& instance) {
  {
    const std::lock_guard lock(watched_mutex_);
    watched_ = instance;
  }
  context_.board->set_metrics([instance = std::weak_ptr(instance)] {
    const auto live = instance.lock();
    return live ? live->metrics() : std::vector<std::pair<std::string, double>>{};
  });
}

void Worker::destroy(std::shared_ptr<plugin::Instance> instance) {
  context_.board->set_metrics({});
  {
    const std::lock_guard lock(watched_mutex_);
    watched_.reset();
  }
  call([&] {
    instance.reset();
    return true;
  });
}

Instant Worker::end_by() {
  Instant::rep none = 0;
  deadline_.compare_exchange_strong(none, (now() + context_.shutdown_deadline).count());
  return Instant(deadline_.load());
}

void Worker::wait_while_paused() {
  if (!paused() || stopping()) return;
  context_.board->enter(StateTracker::Phase::kPaused);
  while (paused() && !stopping()) wait(now() + kIdleWait);
}

std::optional<Ending> Worker::persist(const std::function<std::optional<plugin::Outcome>(std::uint32_t)>& attempt) {
  context_.board->enter(StateTracker::Phase::kConnecting);
  while (!stopping()) {
    if (paused()) {
      wait_while_paused();
      context_.board->enter(StateTracker::Phase::kConnecting);
      continue;
    }
    auto failure = attempt(retry_.attempts() + 1);
    if (!failure) {
      retry_.succeeded();
      return std::nullopt;
    }
    if (stopping()) break;
    if (stops_connector(*failure) || ends_session(*failure)) return failed(*std::move(failure));
    retry_.failed(now(), random_.next(), failure->retry_after);
    context_.board->update([&](ConnectorStatus& status, StateTracker& tracker, Instant) {
      ++status.retries;
      status.last_error = to_problem(*failure, context_.clock->wall());
      tracker.set_retry(retry_.due_at());
    });
    log_.warn("attempt {} failed: {}", retry_.attempts(), failure->text);
    while (retry_.waiting(now()) && !stopping() && !paused()) wait(retry_.due_at());
    context_.board->update([](ConnectorStatus&, StateTracker& tracker, Instant) { tracker.clear_retry(); });
  }
  return Ending{};
}

plugin::CallOptions Worker::call_options(std::uint32_t attempt) const {
  const Instant::rep deadline = deadline_.load();
  return {attempt, deadline == 0 ? plugin::kNoDeadline : Instant(deadline)};
}

plugin::InstanceOptions Worker::instance_options() {
  plugin::InstanceOptions options;
  options.connector_key = config().key;
  options.secrets = config().secrets;
  options.services = std::make_shared<ConnectorServices>(config().key, context_.board, inbox_, woken_);
  options.cluster_id = context_.cluster_id;
  options.record_bytes_max = std::min<std::size_t>(config().record_bytes_max, entry::kRecordBytesMax);
  options.clock = context_.clock;
  return options;
}

Result<client::TopicInfo> Worker::ensure_topic(const client::TopicName& name, const client::TopicOptions& options) {
  auto made = context_.client->create_topic(name, options);
  if (made || !made.error().is(client::Errc::kTopicExists)) return made;
  return context_.client->describe_topic(name);
}

Ending Worker::failed(plugin::Outcome outcome, bool restartable) {
  locate(outcome, config());
  context_.board->report(outcome);
  log_.error("{} [{}]{}{}", outcome.text, outcome.code, outcome.hint.empty() ? "" : " ", outcome.hint);
  return {std::move(outcome), restartable};
}

Ending Worker::failed(plugin::Outcome outcome) {
  const bool restartable = !stops_connector(outcome);
  return failed(std::move(outcome), restartable);
}

}  // namespace sluice::pipeline
