// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/progress_lines.hpp"

#include <algorithm>
#include <utility>

#include <pthread.h>

#include <fmt/format.h>

#include "runtime/app/table.hpp"

namespace sluice::app {

std::string progress_text(const node::RecoveryProgress& progress) {
  const std::uint64_t partitions = progress.partitions;
  if (partitions == 0) return "opening the log: the catalog";
  const std::uint64_t bytes = progress.bytes;
  return fmt::format("opening the log: {} of {} partitions, {} of {} checked", progress.partitions_opened.load(), partitions,
                     format_bytes(std::min<std::uint64_t>(progress.bytes_judged, bytes)), format_bytes(bytes));
}

ProgressLines::ProgressLines(std::shared_ptr<const node::RecoveryProgress> progress, const logging::Logger& log)
    : progress_(std::move(progress)), log_(log) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "sluice-progress");
    tell();
  });
}

ProgressLines::~ProgressLines() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
  thread_.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
  if (took > kQuietStart) log_.info("opening the log took {:.1f} s", took.count());
}

void ProgressLines::tell() {
  std::unique_lock lock(mutex_);
  std::chrono::seconds pause = kQuietStart;
  while (!ended_.wait_for(lock, pause, [this] { return is_over_; })) {
    log_.info("{}", progress_text(*progress_));
    pause = kProgressInterval;
  }
}

}  // namespace sluice::app
