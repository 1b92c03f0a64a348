// SPDX-License-Identifier: Apache-2.0
#include "runtime/isolation/plugin_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// glibc 2.36 forgot the C linkage here; later ones have it.
extern "C" {
#include <sys/pidfd.h>
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace sluice::isolation {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kStderrLineBytesMax = 4096;

struct Sockets {
  plugin::Fd ours;
  plugin::Fd childs;
};

Result<Sockets> make_sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(errno_error(errno, "making a socket for the plugin's process"));
  return Sockets{plugin::Fd(ends[0]), plugin::Fd(ends[1])};
}

void ring(const plugin::Fd& event) {
  const std::uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

int milliseconds_until(std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

plugin::Outcome lost(std::string_view code, std::string text) {
  plugin::Outcome out;
  out.outcome_class = plugin::OutcomeClass::kTransient;
  out.code = code;
  out.text = std::move(text);
  out.hint = "It is started again by [restart]; what it had taken and not made durable is delivered again.";
  return out;
}

}  // namespace

Result<std::unique_ptr<PluginProcess>> PluginProcess::start(const ProcessOptions& options, const sluice_host& host) {
  SLUICE_TRY(SharedArea area, SharedArea::create());
  std::unique_ptr<PluginProcess> process(new PluginProcess(options, host, std::move(area)));
  SLUICE_CHECK(process->launch());
  return process;
}

Result<void> PluginProcess::launch() {
  SLUICE_TRY(Sockets calls, make_sockets());
  SLUICE_TRY(Sockets events, make_sockets());
  SLUICE_TRY(plugin::Pipe err, plugin::make_pipe());
  const plugin::Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  cancelled_ = plugin::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  finish_ = plugin::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!nothing.is_open() || !cancelled_.is_open() || !finish_.is_open() || ::fcntl(err.read.get(), F_SETFL, O_NONBLOCK) != 0)
    return fail(errno_error(errno, "making the descriptors of a plugin's process"));
  const std::array fds{nothing.get(), err.write.get(), err.write.get(), calls.childs.get(), events.childs.get(), area_.fd()};
  SLUICE_TRY(child_, plugin::start_child(
                         {options_.program.string(), "--serve", options_.file.string(), std::to_string(options_.memory_bytes_max)}, fds));
  calls_ = std::move(calls.ours);
  events_ = std::move(events.ours);
  stderr_ = std::move(err.read);
  watched_ = plugin::Fd(::pidfd_open(child_, 0));
  if (!watched_.is_open()) return fail(errno_error(errno, "watching the plugin's process"));
  thread_ = std::thread([this] { take_events(); });
  return {};
}

PluginProcess::~PluginProcess() {
  if (child_ == 0 || exit_) return;
  calls_.reset();
  pollfd fd{watched_.get(), POLLIN, 0};
  if (watched_.is_open()) (void)::poll(&fd, 1, static_cast<int>(kLeaveTime.count()));
  end();
}

void PluginProcess::cancel() {
  ring(cancelled_);
  const auto event = static_cast<std::byte>(HostEvent::kCancel);
  (void)::send(events_.get(), &event, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

PluginProcess::Waited PluginProcess::wait_for_answer(Instant until) {
  for (;;) {
    // An eventfd that was seen stays readable and would end every wait.
    std::array<pollfd, 3> fds{{{calls_.get(), POLLIN, 0}, {watched_.get(), POLLIN, 0}, {cancel_seen_ ? -1 : cancelled_.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), milliseconds_until(until)) < 0 && errno != EINTR) return Waited::kEnded;
    if ((fds[0].revents & POLLIN) != 0) return Waited::kAnswer;
    if (fds[0].revents != 0 || fds[1].revents != 0) return Waited::kEnded;
    const Instant now = std::chrono::steady_clock::now();
    if (fds[2].revents != 0) {
      cancel_seen_ = true;
      until = std::min(until, now + kCancelGrace);
    }
    if (now >= until) return Waited::kLate;
  }
}

plugin::CallResult<PluginProcess::Answer> PluginProcess::call(CallKind kind, const sluice_call& call, Bytes arguments,
                                                              std::uint64_t wait_until_ns) {
  if (ended_) return std::unexpected(*ended_);
  if (arguments.size() > kAreaBytes) {
    return std::unexpected(
        plugin::contract_violation(fmt::format("the arguments of {} take {} bytes, and the memory shared with a plugin's process holds {}",
                                               name_of(kind), arguments.size(), kAreaBytes)));
  }
  std::memcpy(area_.arguments().data(), arguments.data(), arguments.size());
  const auto packet = encode(CallPacket{static_cast<std::uint32_t>(kind), call.attempt, call.deadline_ns, arguments.size()});
  const Instant began = std::chrono::steady_clock::now();
  if (::send(calls_.get(), packet.data(), packet.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(packet.size()))
    return std::unexpected(ended_during(kind));

  Instant until = std::max(began, Instant(std::chrono::nanoseconds(wait_until_ns))) + options_.call_timeout;
  if (call.deadline_ns != SLUICE_NO_DEADLINE) {
    const auto deadline = static_cast<std::int64_t>(std::min<std::uint64_t>(call.deadline_ns, INT64_MAX));
    until = std::min(until, std::max(began, Instant(std::chrono::nanoseconds(deadline))));
  }
  switch (wait_for_answer(until)) {
    case Waited::kAnswer:
      break;
    case Waited::kEnded:
      return std::unexpected(ended_during(kind));
    case Waited::kLate:
      return std::unexpected(
          hung_in(kind, std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began)));
  }
  std::array<std::byte, 32> answer{};
  const ssize_t got = ::recv(calls_.get(), answer.data(), answer.size(), MSG_TRUNC);
  if (got <= 0) return std::unexpected(ended_during(kind));
  const auto decoded = decode_answer(Bytes(answer).first(std::min(answer.size(), static_cast<std::size_t>(got))));
  if (!decoded || decoded->kind != static_cast<std::uint32_t>(kind) || decoded->bytes > kAreaBytes) return std::unexpected(distrust(kind));
  return Answer{decoded->status, area_.results().first(decoded->bytes)};
}

void PluginProcess::end() {
  exit_ = plugin::end_child(child_);
  ring(finish_);
  if (thread_.joinable()) thread_.join();
}

plugin::Outcome PluginProcess::ended_during(CallKind kind) {
  end();
  const bool out_of_memory = exit_->si_code == CLD_EXITED && exit_->si_status == kOutOfMemoryExit;
  const std::string how =
      out_of_memory ? fmt::format("ended during {}: it had used up process.memory_max ({} bytes)", name_of(kind), options_.memory_bytes_max)
                    : fmt::format("{} during {}", plugin::how_it_ended(*exit_), name_of(kind));
  ended_ = lost(plugin::kProcessEndedCode, fmt::format("the process of the plugin {}; {}", how, plugin::last_words(stderr_tail_)));
  return *ended_;
}

plugin::Outcome PluginProcess::hung_in(CallKind kind, std::chrono::milliseconds time) {
  end();
  ended_ = lost(plugin::kProcessHungCode, fmt::format("{} did not return within {} ms, so the process of the plugin was ended; {}",
                                                      name_of(kind), time.count(), plugin::last_words(stderr_tail_)));
  return *ended_;
}

plugin::Outcome PluginProcess::distrust(CallKind kind) {
  end();
  ended_ = plugin::contract_violation(fmt::format("the process of the plugin gave an answer to {} that cannot be read, and was ended; {}",
                                                  name_of(kind), plugin::last_words(stderr_tail_)));
  return *ended_;
}

void PluginProcess::take_events() {
  bool has_events = true;
  bool has_stderr = true;
  bool finishing = false;
  while (!finishing) {
    std::array<pollfd, 3> fds{
        {{has_events ? events_.get() : -1, POLLIN, 0}, {has_stderr ? stderr_.get() : -1, POLLIN, 0}, {finish_.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    // The end comes after everything that was said before it.
    finishing = fds[2].revents != 0;
    Took event = Took::kSome;
    Took text = Took::kSome;
    do {
      if (has_events && (finishing || fds[0].revents != 0)) has_events = (event = take_event()) != Took::kEnd;
      if (has_stderr && (finishing || fds[1].revents != 0)) has_stderr = (text = take_stderr()) != Took::kEnd;
    } while (finishing && ((has_events && event == Took::kSome) || (has_stderr && text == Took::kSome)));
  }
}

PluginProcess::Took PluginProcess::take_event() {
  std::array<std::byte, kEventBytesMax> buffer;
  const ssize_t got = ::recv(events_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Took::kNothing : Took::kEnd;
  if (got == 0) return Took::kEnd;
  handle(Bytes(buffer).first(static_cast<std::size_t>(got)));
  return Took::kSome;
}

PluginProcess::Took PluginProcess::take_stderr() {
  std::array<char, kStderrLineBytesMax> buffer;
  const ssize_t got = ::read(stderr_.get(), buffer.data(), buffer.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Took::kNothing : Took::kEnd;
  if (got == 0) return Took::kEnd;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
  stderr_tail_ += text;
  if (stderr_tail_.size() > 2 * plugin::kHostStderrBytesKept) stderr_tail_.erase(0, stderr_tail_.size() - plugin::kHostStderrBytesKept);
  stderr_line_ += text;
  for (std::size_t end = 0; (end = stderr_line_.find('\n')) != std::string::npos || stderr_line_.size() > kStderrLineBytesMax;) {
    const std::size_t length = std::min(end, stderr_line_.size());
    host_.log(host_.host_data, SLUICE_LOG_INFO, nullptr, 0, {stderr_line_.data(), length});
    stderr_line_.erase(0, length + 1);
  }
  return Took::kSome;
}

void PluginProcess::handle(Bytes event) {
  ByteReader in(event);
  std::uint8_t kind = 0;
  if (!get(in, kind)) return;
  switch (static_cast<ChildEvent>(kind)) {
    case ChildEvent::kLog: {
      std::int32_t level = 0;
      std::uint32_t line = 0;
      sluice_text file{};
      sluice_text message{};
      if (!get(in, level) || !get(in, line) || !get(in, file) || !get(in, message)) return;
      host_.log(host_.host_data, level, std::string(file.ptr, file.len).c_str(), line, message);
      return;
    }
    case ChildEvent::kWake:
      host_.wake(host_.host_data);
      return;
    case ChildEvent::kRetrying: {
      std::uint32_t attempt = 0;
      std::uint64_t wait_ms = 0;
      if (!get(in, attempt) || !get(in, wait_ms)) return;
      const auto error = get_outcome(in);
      if (!error) return;
      const sluice_outcome abi = abi_outcome(*error);
      host_.retrying(host_.host_data, attempt, wait_ms, &abi);
      return;
    }
  }
}

}  // namespace sluice::isolation
