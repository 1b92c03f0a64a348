// SPDX-License-Identifier: Apache-2.0
#include "runtime/isolation/serve.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "runtime/isolation/served.hpp"
#include "runtime/isolation/shared_area.hpp"
#include "runtime/plugin/host_table.hpp"
#include "runtime/plugin/open_plugin.hpp"

namespace sluice::isolation {

namespace {

constexpr int kNice = 10;                             // the plugin yields to the daemon
constexpr std::size_t kAnswerEndBytesMax = 1u << 20;  // an outcome and the metrics

void send_event(const ByteVector& event, int flags) {
  (void)::send(kEventsFd, event.data(), event.size(), flags | MSG_NOSIGNAL);
}

std::string_view cut(std::string_view text) {
  return text.substr(0, kEventTextBytesMax);
}

// Logs, wakes and retries go to the daemon. A log message that the daemon does not take at once is lost; nothing else is.
class EventServices final : public plugin::HostServices {
 public:
  explicit EventServices(std::int32_t level_min) : level_min_(level_min) {}

  bool log_enabled(plugin::LogLevel level) override { return static_cast<std::int32_t>(level) >= level_min_; }
  void log(plugin::LogLevel level, std::string_view file, std::uint32_t line, std::string_view message) override {
    ByteVector event;
    ByteWriter out(event);
    out.put(static_cast<std::uint8_t>(ChildEvent::kLog));
    out.put(static_cast<std::int32_t>(level));
    out.put(line);
    out.put_sized(cut(file));
    out.put_sized(cut(message));
    send_event(event, MSG_DONTWAIT);
  }
  void wake() override { send_event({static_cast<std::byte>(ChildEvent::kWake)}, 0); }
  void retrying(std::uint32_t attempt, std::chrono::milliseconds wait, const plugin::Outcome& error) override {
    ByteVector event;
    ByteWriter out(event);
    out.put(static_cast<std::uint8_t>(ChildEvent::kRetrying));
    out.put(attempt);
    out.put(static_cast<std::uint64_t>(wait.count()));
    put_outcome(out, error);
    send_event(event, 0);
  }

 private:
  std::int32_t level_min_;
};

class Server {
 public:
  Server(std::filesystem::path file, SharedArea area) : file_(std::move(file)), area_(std::move(area)) {}

  int run() {
    std::thread cancels([this] { take_cancels(); });
    const int code = take_calls();
    ::shutdown(kEventsFd, SHUT_RD);
    cancels.join();
    served_.reset();
    return code;
  }

 private:
  int take_calls() {
    for (;;) {
      std::array<std::byte, 32> packet{};
      const ssize_t got = ::recv(kCallsFd, packet.data(), packet.size(), MSG_TRUNC);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return EXIT_SUCCESS;
      const auto call = decode_call(Bytes(packet).first(std::min(packet.size(), static_cast<std::size_t>(got))));
      if (!call || call->bytes > kAreaBytes) return EXIT_FAILURE;
      answer(*call);
    }
  }

  void take_cancels() {
    std::array<std::byte, 16> event{};
    for (;;) {
      const ssize_t got = ::recv(kEventsFd, event.data(), event.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      const std::lock_guard lock(mutex_);
      if (event[0] == static_cast<std::byte>(HostEvent::kCancel) && served_) served_->cancel();
    }
  }

  void answer(const CallPacket& packet) {
    results_.clear();
    ByteWriter out(results_);
    ByteReader in(Bytes(area_.arguments()).first(packet.bytes));
    plugin::OutcomeSlot outcome(no_secrets());
    std::int32_t status = call(packet, in, out, outcome);
    if (results_.size() > kAreaBytes - kAnswerEndBytesMax) {
      results_.clear();
      status = kUnreadable;
    }
    out.put(static_cast<std::uint8_t>(outcome.outcome() ? 1 : 0));
    if (outcome.outcome()) put_outcome(out, *outcome.outcome());
    put_metrics(out);
    std::memcpy(area_.results().data(), results_.data(), results_.size());
    const auto sent = encode(AnswerPacket{packet.kind, status, results_.size()});
    (void)::send(kCallsFd, sent.data(), sent.size(), MSG_NOSIGNAL);
  }

  std::int32_t call(const CallPacket& packet, ByteReader& in, ByteWriter& out, plugin::OutcomeSlot& outcome) {
    const std::size_t before = results_.size();
    const auto kind = static_cast<CallKind>(packet.kind);
    const sluice_call call{.struct_size = sizeof(sluice_call), .attempt = packet.attempt, .deadline_ns = packet.deadline_ns};
    try {
      if (kind == CallKind::kCreate) return create(in, outcome);
      if (!served_) return kUnreadable;
      return served_->call(kind, call, in, out, outcome);
    } catch (const std::exception& thrown) {
      outcome.outcome() = plugin::contract_violation(fmt::format("{} threw an exception: {}", name_of(kind), thrown.what()));
    } catch (...) {
      outcome.outcome() = plugin::contract_violation(fmt::format("{} threw something that is not a std::exception", name_of(kind)));
    }
    outcome.outcome()->code = plugin::kThrewCode;
    // Half of a list cannot be read; the daemon ends this process for it, with the reason in its text.
    results_.resize(before);
    fmt::print(stderr, "{}\n", outcome.outcome()->text);
    return SLUICE_FAILED;
  }

  std::int32_t create(ByteReader& in, plugin::OutcomeSlot& outcome) {
    std::uint8_t is_sink = 0;
    std::uint32_t index = 0;
    sluice_text key{};
    std::int32_t level = 0;
    ServedLimits limits;
    if (!get(in, is_sink) || !get(in, index) || !get(in, key) || !get(in, level) || !get(in, limits.record_bytes_max) ||
        !get(in, limits.state_bytes_max)) {
      return kUnreadable;
    }
    auto opened = plugin::open_plugin(file_, file_.filename().string());
    if (!opened) {
      outcome.outcome() = plugin::Outcome{};
      outcome.outcome()->code = opened.error().code();
      outcome.outcome()->text = opened.error().message();
      outcome.outcome()->hint = opened.error().explanation();
      return SLUICE_FAILED;
    }
    host_.emplace(plugin::HostTable::Options{
        .connector_key = std::string(key.ptr, key.len), .secrets = {}, .services = std::make_shared<EventServices>(level)});
    const sluice_connector_factory& factory = *opened->factory;
    auto served =
        is_sink != 0 ? serve_sink(factory, index, host_->table(), outcome) : serve_source(factory, index, host_->table(), limits, outcome);
    const std::lock_guard lock(mutex_);
    served_ = std::move(served);
    return served_ ? SLUICE_OK : SLUICE_FAILED;
  }

  // Those whose values have changed.
  void put_metrics(ByteWriter& out) {
    const std::size_t at = results_.size();
    out.put(std::uint32_t{0});
    if (!host_) return;
    std::uint32_t count = 0;
    const auto samples = host_->samples();
    told_.resize(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (told_[i] == samples[i].value) continue;
      told_[i] = samples[i].value;
      out.put(samples[i].kind);
      out.put_sized(samples[i].name);
      out.put(samples[i].value);
      ++count;
    }
    store_le(results_.data() + at, count);
  }

  std::filesystem::path file_;
  SharedArea area_;
  ByteVector results_;
  std::optional<plugin::HostTable> host_;
  std::vector<std::optional<std::uint64_t>> told_;
  std::mutex mutex_;  // of served_ being there: a cancel comes on a thread of its own
  std::unique_ptr<Served> served_;
};

[[noreturn]] void out_of_memory() {
  constexpr std::string_view kText = "the plugin has used up process.memory_max\n";
  (void)!::write(STDERR_FILENO, kText.data(), kText.size());
  std::_Exit(kOutOfMemoryExit);
}

}  // namespace

int serve(const std::filesystem::path& file, std::uint64_t memory_bytes_max) {
  (void)::setpriority(PRIO_PROCESS, 0, kNice);
  // Writable memory, not addresses: some runtimes reserve terabytes of those. Sanitizers map their shadow writable.
  if (std::string_view(SLUICE_ABI_SANITIZER_TAG).empty()) {
    const rlimit wanted{memory_bytes_max, memory_bytes_max};
    ::setrlimit(RLIMIT_DATA, &wanted);
    std::set_new_handler(&out_of_memory);
  }
  // What the plugin starts is not to keep them open.
  for (const int fd : {kCallsFd, kEventsFd, kAreaFd}) (void)::fcntl(fd, F_SETFD, FD_CLOEXEC);
  auto area = SharedArea::attach(plugin::Fd(kAreaFd));
  if (!area) {
    fmt::print(stderr, "{}\n", area.error().to_string());
    return EXIT_FAILURE;
  }
  return Server(file, *std::move(area)).run();
}

}  // namespace sluice::isolation
