// SPDX-License-Identifier: Apache-2.0
// How the daemon ends: signals, the deadline, and the way out.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/result.hpp"
#include "runtime/app/exit_code.hpp"

namespace sluice::app {

// Ends the process by _Exit after flushing what was printed and logged. With a leak sanitizer and `check_leaks`, the leak check runs
// first; leaks end the process with the sanitizer's own code.
[[noreturn]] void leave(ExitCode code, bool check_leaks);

// Waits for the reason to stop, then stands over the stop. One per daemon, made on the main thread before any other thread, so that the
// blocked signals are blocked everywhere. SIGHUP, SIGPIPE and SIGXFSZ are ignored.
class Departure {
 public:
  Departure();
  ~Departure();
  Departure(const Departure&) = delete;
  Departure& operator=(const Departure&) = delete;

  // From any thread, a shard's too: acknowledged data cannot be kept durable. Ends wait() or, after it, the process.
  void fatal(Error error);

  // While the log opens, which can take long, there is nothing to drain: a SIGTERM or SIGINT calls `tidy` on a thread of its own and leaves
  // with kOk, as a kill would leave the log. Until end_watch(): a signal that comes later is left to wait().
  void watch_start(std::function<void()> tidy);
  void end_watch();

  struct Reason {
    std::string signal;            // "SIGTERM"
    std::optional<Error> fatal{};  // then the process must not drain
  };
  // Blocks the main thread.
  [[nodiscard]] Reason wait();

  // From now on: a second SIGTERM or SIGINT leaves at once with kFailure, fatal() with kFatal, and so does the deadline with kFailure,
  // naming the step that did not end. The watching thread ends with the process.
  void watch(std::chrono::steady_clock::time_point deadline);
  // What a passed deadline names.
  void set_step(const char* step) { step_ = step; }

 private:
  void guard_start(const std::function<void()>& tidy);
  void guard(std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] std::optional<Error> take_fatal();

  int signals_ = -1;
  int wake_ = -1;
  int quit_ = -1;
  std::mutex mutex_;
  std::optional<Error> fatal_;
  std::atomic<const char*> step_ = "drain";
  std::thread watcher_;
};

}  // namespace sluice::app
