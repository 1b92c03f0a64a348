// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/watchdog.hpp"

#include <pthread.h>

#include <utility>

namespace sluice::app {
namespace {

constexpr int kTicksPerInterval = 4;  // one asks, the next one sees the answer; and two to spare

}  // namespace

bool Heartbeat::tick() {
  const bool beats = answered_ && answered_->load(std::memory_order_acquire);
  if (answered_ && !beats) return false;
  answered_ = std::make_shared<std::atomic<bool>>(false);
  ask_([answered = answered_] { answered->store(true, std::memory_order_release); });
  return beats;
}

Watchdog::Watchdog(std::chrono::microseconds interval, Heartbeat heart, std::function<void()> alive)
    : heart_(std::move(heart)), alive_(std::move(alive)), thread_([this, interval] { run(interval / kTicksPerInterval); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watchdog::run(std::chrono::microseconds tick) {
  pthread_setname_np(pthread_self(), "sluice-watchdog");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (heart_.tick()) alive_();
    wake_.wait_for(lock, tick, [this] { return stopping_; });
  }
}

}  // namespace sluice::app
