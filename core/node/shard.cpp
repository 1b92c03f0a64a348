// SPDX-License-Identifier: Apache-2.0
#include "core/node/shard.hpp"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace sluice::node {

namespace asio = boost::asio;

struct Shard::Loop {
  using TimePoint = std::chrono::steady_clock::time_point;

  storage::PostingIoQueue io;  // before the context, whose last tasks may own logs that use it
  // Not for one thread only: then what the loop's own thread posts could be overtaken.
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::steady_timer alarm{context};
  std::optional<TimePoint> alarm_at;
  // Ordered by time, then by id. One asio timer serves all: a long poll sets and cancels one timer per read.
  std::map<std::pair<TimePoint, TimerId>, Task> timers;
  std::map<TimerId, TimePoint> times;
  TimerId next_timer = 1;
  std::thread thread;

  explicit Loop(storage::IoThreads& io_threads)
      : io(io_threads, [this](std::move_only_function<void()> task) { asio::post(context, std::move(task)); }) {}

  void set_alarm() {
    if (timers.empty()) return;
    const TimePoint first = timers.begin()->first.first;
    if (alarm_at && *alarm_at <= first) return;
    alarm_at = first;
    alarm.expires_at(first);
    alarm.async_wait([this](const boost::system::error_code& error) {
      if (error) return;  // moved to an earlier time
      alarm_at.reset();
      run_due(std::chrono::steady_clock::now());
      set_alarm();
    });
  }

  void run_due(TimePoint now) {
    while (!timers.empty() && timers.begin()->first.first <= now) {
      auto due = timers.extract(timers.begin());
      times.erase(due.key().second);
      due.mapped()();
    }
  }
};

Shard::Shard(std::size_t index, storage::IoThreads& io_threads) : index_(index), loop_(std::make_unique<Loop>(io_threads)) {}

Shard::~Shard() {
  stop();
}

void Shard::start() {
  loop_->thread = std::thread([this] {
    pthread_setname_np(pthread_self(), fmt::format("sluice-shard-{}", index_).c_str());
    loop_->context.run();
  });
}

void Shard::poll() {
  loop_->context.poll();
}

void Shard::stop() {
  if (!loop_->thread.joinable()) return;
  post([this] { loop_->context.stop(); });
  loop_->thread.join();
}

void Shard::post(Task task) {
  asio::post(loop_->context, std::move(task));
}

Shard::TimerId Shard::after(std::chrono::nanoseconds delay, Task task) {
  const Loop::TimePoint at = std::chrono::steady_clock::now() + delay;
  const TimerId timer = loop_->next_timer++;
  loop_->timers.emplace(std::pair(at, timer), std::move(task));
  loop_->times.emplace(timer, at);
  loop_->set_alarm();
  return timer;
}

void Shard::cancel(TimerId timer) {
  const auto found = loop_->times.find(timer);
  if (found == loop_->times.end()) return;
  loop_->timers.erase(std::pair(found->second, timer));
  loop_->times.erase(found);
}

storage::IoQueue& Shard::io() {
  return loop_->io;
}

}  // namespace sluice::node
