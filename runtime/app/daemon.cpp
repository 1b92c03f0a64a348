// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/daemon.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/client/client.hpp"
#include "core/node/node.hpp"
#include "runtime/app/departure.hpp"
#include "runtime/app/notify_socket.hpp"
#include "runtime/app/plugin_schemas.hpp"
#include "runtime/app/progress_lines.hpp"
#include "runtime/app/recovery_log.hpp"
#include "runtime/app/runtime_dir.hpp"
#include "runtime/app/version.hpp"
#include "runtime/app/watchdog.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/logging.hpp"
#include "runtime/config/loader.hpp"
#include "runtime/http/api.hpp"
#include "runtime/http/server.hpp"
#include "runtime/http/starting.hpp"
#include "runtime/pipeline/supervisor.hpp"

namespace sluice::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kUnixPathMax = 107;
// Of the shutdown deadline: connectors get this share, the log and the rest what is left.
constexpr double kConnectorShare = 0.9;

const logging::Logger& daemon_log() {
  static const logging::Logger log;
  return log;
}

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) daemon_log().warn("cannot raise the limit of open files to {}", limit.rlim_max);
}

http::StartProgress seen(const node::RecoveryProgress& progress) {
  const std::uint64_t bytes = progress.bytes;
  return {.partitions = progress.partitions,
          .partitions_opened = progress.partitions_opened,
          .bytes = bytes,
          .bytes_checked = std::min<std::uint64_t>(progress.bytes_judged, bytes)};
}

// Files that say where this process is found, and go with it. Any thread.
class PublishedFiles {
 public:
  Result<void> publish(const fs::path& file, std::int64_t number) {
    SLUICE_CHECK(files::write_atomically(file, fmt::format("{}\n", number)));
    note(file);
    return {};
  }
  // One that somebody else has made.
  void note(const fs::path& file) {
    const std::lock_guard lock(mutex_);
    files_.push_back(file);
  }
  void remove() {
    const std::lock_guard lock(mutex_);
    std::error_code ignored;
    for (const fs::path& file : files_) fs::remove(file, ignored);
    files_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<fs::path> files_;
};

// Everything that runs, in the order of its making; it goes in the opposite order.
class Daemon {
 public:
  Daemon(config::DaemonConfig config, RunOptions options, NotifySocket notify_socket, Departure& departure)
      : config_(std::move(config)), options_(std::move(options)), notify_socket_(std::move(notify_socket)), departure_(departure) {}

  Result<void> start() {
    departure_.watch_start([this] { published_.remove(); });
    const auto opened = open_log();
    departure_.end_watch();
    if (!opened) return opened;
    log_recovery(node_->recovery(), daemon_log());
    client_ = std::make_unique<client::Client>(*node_);
    plugins_ = make_plugin_catalog(config_, config_.data_dir / "plugins");
    const auto connector_deadline = std::chrono::duration_cast<std::chrono::milliseconds>(config_.shutdown_deadline * kConnectorShare);
    supervisor_ = std::make_unique<pipeline::Supervisor>(pipeline::Supervisor::Options{
        .client = client_.get(), .plugins = plugins_.get(), .cluster_id = node_->cluster_id(), .shutdown_deadline = connector_deadline});
    api_.reset(new http::Api{.client = *client_,
                             .supervisor = *supervisor_,
                             .version = std::string(version()),
                             .clock = system_clock(),
                             .random = system_random()});
    server_->replace_routes(http::make_router(*api_, config_.http.allowed_hosts));
    if (!options_.pid_file.empty()) SLUICE_CHECK(published_.publish(options_.pid_file, getpid()));
    // A plugin that hangs while it is inspected must not keep the daemon from hearing that it is to stop.
    starter_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "sluice-starter");
      start_connectors();
    });
    return {};
  }

  // Drains within the deadline; answers who was abandoned.
  pipeline::StopReport drain(std::chrono::steady_clock::time_point deadline) {
    pipeline::StopReport report;
    leaving_ = true;
    tell_service("STOPPING=1");
    departure_.set_step("start of the connectors");
    if (starter_.joinable()) starter_.join();
    watchdog_.reset();
    departure_.set_step("drain");
    if (supervisor_) report = supervisor_->stop();
    departure_.set_step("http");
    server_.reset();
    departure_.set_step("log");
    if (node_) {
      const auto left = std::max<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now(), std::chrono::milliseconds(100));
      if (const auto closed = node_->close(left); !closed) {
        daemon_log().error("closing the log: {}", closed.error().to_string());
        closed_cleanly_ = false;
      }
    }
    published_.remove();
    return report;
  }

  // Only if nothing was abandoned and the log is closed: an abandoned call may still come back and touch what it was given, and a log
  // that did not close in time would be waited for here.
  void destroy() {
    supervisor_.reset();
    plugins_.reset();
    api_.reset();
    client_.reset();
    node_.reset();
  }

  [[nodiscard]] bool closed_cleanly() const { return closed_cleanly_; }
  [[nodiscard]] std::optional<Error> fatal() const { return node_ ? node_->fatal() : std::nullopt; }

 private:
  Result<void> open_log() {
    const ProgressLines lines(progress_, daemon_log());
    SLUICE_TRY(node_, node::Node::open({.data_dir = config_.data_dir.string(),
                                        .runtime_dir = config_.runtime_dir.empty() ? default_runtime_dir() : config_.runtime_dir.string(),
                                        .verify_sealed = config_.recovery.verify_sealed,
                                        .shards = config_.shards,
                                        .on_locked = [this] { return start_http(); },
                                        .progress = progress_,
                                        .on_fatal = [this](Error error) { departure_.fatal(std::move(error)); },
                                        .on_warning = [](const Error& error) { daemon_log().warn("{}", error.to_string()); },
                                        .on_damage = [](const Error& error) { log_damage(error, daemon_log()); },
                                        .scrub_bytes_per_second = config_.recovery.scrub_bytes_per_second,
                                        .scrub_interval = config_.recovery.scrub_interval}));
    return {};
  }

  // Before the log is open, so that `/ready` says how far it is.
  Result<void> start_http() {
    fs::path socket = config_.http.socket;
    if (socket.string().size() > kUnixPathMax && socket == config_.data_dir / "sluice.sock") {
      daemon_log().warn("no Unix socket: {} is longer than the {} bytes that the system allows; set [http] socket", socket.string(),
                        kUnixPathMax);
      socket.clear();
    }
    const auto log_admin = [](const std::string& line) { logging::Logger().info("admin: {}", line); };
    SLUICE_TRY(server_, http::Server::start(
                            {.address = config_.http.address, .socket = socket, .log_admin = log_admin},
                            http::make_starting_router(
                                std::string(version()), [progress = progress_] { return seen(*progress); }, config_.http.allowed_hosts)));
    if (!socket.empty()) published_.note(socket);
    SLUICE_CHECK(published_.publish(config_.data_dir / "http.port", server_->port()));
    daemon_log().info("sluice {} answers on port {}{}", version(), server_->port(), socket.empty() ? "" : " and " + socket.string());
    return {};
  }

  void start_connectors() {
    auto set = config::load_connectors(config_, config::process_environment(), schemas_of(plugins_));
    for (const auto& warning : set.warnings) daemon_log().warn("{}", config::to_string(warning));
    for (const auto& connector : set.connectors) logging::add_secrets(connector.secrets);
    if (leaving_) return;
    daemon_log().info("starting {} connector(s), {} rejected", set.connectors.size(), set.rejected.size());
    supervisor_->start(std::move(set.connectors), std::move(set.rejected));
    api_->started = true;
    daemon_log().info("ready");
    tell_service("READY=1");
    if (const auto interval = notify_socket_.watchdog_interval()) {
      watchdog_.emplace(*interval, Heartbeat([this](Heartbeat::Answer answer) { node_->beat(std::move(answer)); }),
                        [this] { tell_service("WATCHDOG=1"); });
    }
  }

  void tell_service(std::string_view state) {
    if (const auto told = notify_socket_.tell(state); !told) daemon_log().warn("{} is not told: {}", state, told.error().to_string());
  }

  config::DaemonConfig config_;
  RunOptions options_;
  NotifySocket notify_socket_;
  Departure& departure_;
  std::shared_ptr<node::RecoveryProgress> progress_ = std::make_shared<node::RecoveryProgress>();
  std::unique_ptr<node::Node> node_;
  std::unique_ptr<client::Client> client_;
  std::shared_ptr<plugin::PluginCatalog> plugins_;
  std::unique_ptr<pipeline::Supervisor> supervisor_;
  std::unique_ptr<http::Api> api_;
  std::unique_ptr<http::Server> server_;
  std::optional<Watchdog> watchdog_;  // the starter's, until that has ended
  std::thread starter_;
  std::atomic<bool> leaving_ = false;
  PublishedFiles published_;
  bool closed_cleanly_ = true;
};

[[noreturn]] void leave_fatal(const Error& error) {
  daemon_log().error("fatal: {}", error.to_string());
  fmt::print(stderr, "sluice: acknowledged data cannot be kept durable: {}\n", error.to_string());
  leave(ExitCode::kFatal, false);
}

// Drains under the watch of the deadline and leaves.
[[noreturn]] void finish(Daemon& daemon, Departure& departure, std::chrono::milliseconds allowed, ExitCode code) {
  const auto deadline = std::chrono::steady_clock::now() + allowed;
  departure.watch(deadline);
  const pipeline::StopReport report = daemon.drain(deadline);
  if (!report.abandoned.empty()) {
    const std::string names = fmt::format("{}", fmt::join(report.abandoned, ", "));
    daemon_log().error("left with abandoned connectors: {}", names);
    fmt::print(stderr, "sluice: a call into {} never returned; it was abandoned, its undelivered records stay pending\n", names);
    leave(ExitCode::kAbandoned, false);
  }
  // The watch over the deadline has heard of it too; whichever comes first, the process leaves with the same code.
  if (const auto error = daemon.fatal()) leave_fatal(*error);
  if (!daemon.closed_cleanly()) leave(code == ExitCode::kOk ? ExitCode::kFailure : code, false);
  departure.set_step("destroy");
  daemon.destroy();
  daemon_log().info("stopped");
  leave(code, true);
}

}  // namespace

void run_daemon(const Console& console, const RunOptions& options) {
  NotifySocket notify_socket = NotifySocket::from_environment();
  Departure departure;
  auto config = config::load_daemon_config(options.config, config::process_environment());
  if (!config) leave(console.report(config.error()), true);
  logging::start(logging::parse_level(config->log.level).value_or(logging::Level::kInfo),
                 config->log.format == "json" ? logging::Format::kJson : logging::Format::kText);
  raise_file_limit();
  const auto allowed = config->shutdown_deadline;
  Daemon daemon(*std::move(config), options, std::move(notify_socket), departure);
  if (const auto started = daemon.start(); !started) {
    const ExitCode code = console.report(started.error());
    finish(daemon, departure, allowed, code);
  }
  const Departure::Reason reason = departure.wait();
  if (reason.fatal) leave_fatal(*reason.fatal);
  daemon_log().info("{}: draining, at most {} s", reason.signal, std::chrono::duration<double>(allowed).count());
  finish(daemon, departure, allowed, ExitCode::kOk);
}

}  // namespace sluice::app
