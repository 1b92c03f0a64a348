// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/departure.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "runtime/base/logging.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLUICE_LEAK_CHECK 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SLUICE_LEAK_CHECK 1
#endif
#ifdef SLUICE_LEAK_CHECK
#include <sanitizer/lsan_interface.h>
#endif

namespace sluice::app {

namespace {

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// The next signal, or 0 if there is none.
int take_signal(int descriptor) {
  signalfd_siginfo info{};
  if (read(descriptor, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
  return static_cast<int>(info.ssi_signo);
}

std::string signal_name(int signal) {
  return fmt::format("SIG{}", sigabbrev_np(signal));
}

void ring(int event) {
  const std::uint64_t one = 1;
  const ssize_t written = write(event, &one, sizeof one);
  SLUICE_ASSERT(written == sizeof one, "an event counter cannot be full: {}", written);
}

}  // namespace

void leave(ExitCode code, [[maybe_unused]] bool check_leaks) {
  logging::flush();
  std::fflush(stdout);
  std::fflush(stderr);
#ifdef SLUICE_LEAK_CHECK
  if (check_leaks) __lsan_do_leak_check();
#endif
  std::_Exit(static_cast<int>(code));
}

Departure::Departure() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit is a failed write, with its name and errno, and not a silent death
  const sigset_t set = handled_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  quit_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  SLUICE_ASSERT(signals_ >= 0 && wake_ >= 0 && quit_ >= 0, "no descriptors for signals: errno {}", errno);
}

Departure::~Departure() {
  end_watch();
  for (const int descriptor : {signals_, wake_, quit_}) close(descriptor);
}

void Departure::fatal(Error error) {
  {
    const std::lock_guard lock(mutex_);
    if (!fatal_) fatal_ = std::move(error);
  }
  ring(wake_);
}

std::optional<Error> Departure::take_fatal() {
  const std::lock_guard lock(mutex_);
  return fatal_;
}

Departure::Reason Departure::wait() {
  for (;;) {
    std::array<pollfd, 2> watched{{{.fd = signals_, .events = POLLIN, .revents = 0}, {.fd = wake_, .events = POLLIN, .revents = 0}}};
    poll(watched.data(), watched.size(), -1);
    if (auto error = take_fatal()) return {.signal = {}, .fatal = std::move(error)};
    const int signal = take_signal(signals_);
    if (signal == SIGHUP) logging::Logger().info("SIGHUP is ignored: configuration is read at the start only");
    if (signal == SIGTERM || signal == SIGINT) return {.signal = signal_name(signal)};
  }
}

void Departure::end_watch() {
  if (!watcher_.joinable()) return;
  ring(quit_);
  watcher_.join();
  std::uint64_t rung = 0;
  const ssize_t taken = read(quit_, &rung, sizeof rung);
  SLUICE_ASSERT(taken == sizeof rung, "the bell that was just rung: {}", taken);
}

void Departure::watch_start(std::function<void()> tidy) {
  watcher_ = std::thread([this, tidy = std::move(tidy)] {
    pthread_setname_np(pthread_self(), "sluice-signals");
    guard_start(tidy);
  });
}

void Departure::guard_start(const std::function<void()>& tidy) {
  for (;;) {
    std::array<pollfd, 2> watched{{{.fd = signals_, .events = POLLIN, .revents = 0}, {.fd = quit_, .events = POLLIN, .revents = 0}}};
    poll(watched.data(), watched.size(), -1);
    if (watched[1].revents != 0) return;
    const int signal = take_signal(signals_);
    if (signal != SIGTERM && signal != SIGINT) continue;
    logging::Logger().info("{} while the log opens: leaving; the next start begins again", signal_name(signal));
    tidy();
    leave(ExitCode::kOk, false);
  }
}

void Departure::watch(std::chrono::steady_clock::time_point deadline) {
  watcher_ = std::thread([this, deadline] {
    pthread_setname_np(pthread_self(), "sluice-deadline");
    guard(deadline);
  });
}

void Departure::guard(std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    std::array<pollfd, 3> watched{{{.fd = signals_, .events = POLLIN, .revents = 0},
                                   {.fd = wake_, .events = POLLIN, .revents = 0},
                                   {.fd = quit_, .events = POLLIN, .revents = 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    poll(watched.data(), watched.size(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000)));
    if (watched[2].revents != 0) return;
    if (const auto error = take_fatal()) {
      fmt::print(stderr, "sluice: {}\n", error->to_string());
      leave(ExitCode::kFatal, false);
    }
    const int signal = take_signal(signals_);
    if (signal == SIGTERM || signal == SIGINT) {
      fmt::print(stderr, "sluice: a second {}: leaving at once, without draining\n", signal_name(signal));
      leave(ExitCode::kFailure, false);
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      fmt::print(stderr, "sluice: the shutdown deadline has passed in step '{}': leaving; what was acknowledged is in the log\n",
                 step_.load());
      leave(ExitCode::kFailure, false);
    }
  }
}

}  // namespace sluice::app
