// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace sluice::app {

// Asks whether everything still runs, one question at a time. Without a clock; one thread.
class Heartbeat {
 public:
  using Answer = std::move_only_function<void()>;
  // Has the answer called, from any thread and at most once, by what is to be alive.
  using Ask = std::function<void(Answer)>;

  explicit Heartbeat(Ask ask) : ask_(std::move(ask)) {}

  // Whether the question of an earlier tick has been answered; if so, and the first time, the next one is asked.
  [[nodiscard]] bool tick();

 private:
  Ask ask_;
  std::shared_ptr<std::atomic<bool>> answered_;  // none: nothing was asked
};

// Calls `alive` at least every `interval` as long as its heart beats, on a thread of its own, from the constructor to the destructor.
class Watchdog {
 public:
  Watchdog(std::chrono::microseconds interval, Heartbeat heart, std::function<void()> alive);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void run(std::chrono::microseconds tick);

  Heartbeat heart_;
  std::function<void()> alive_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::app
