// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/node/recovery_progress.hpp"
#include "runtime/base/logging.hpp"

namespace sluice::app {

inline constexpr std::chrono::seconds kQuietStart{1};  // a start that takes no longer says nothing
inline constexpr std::chrono::seconds kProgressInterval{5};

// "opening the log: 3 of 10 partitions, 1.5 GiB of 4.0 GiB checked".
[[nodiscard]] std::string progress_text(const node::RecoveryProgress& progress);

// While it lives, the daemon's log says every so often how far the opening of the log is; in the end, how long it took.
class ProgressLines {
 public:
  ProgressLines(std::shared_ptr<const node::RecoveryProgress> progress, const logging::Logger& log);
  ~ProgressLines();
  ProgressLines(const ProgressLines&) = delete;
  ProgressLines& operator=(const ProgressLines&) = delete;

 private:
  void tell();

  std::shared_ptr<const node::RecoveryProgress> progress_;
  const logging::Logger& log_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace sluice::app
