// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <utility>

namespace sluice::pipeline {

// Stands between a worker and its plugin. A call that never returns can be given up from outside: should it return after all, the thread
// ends here, because everything it knew of the host may be gone by then.
class CallGate {
 public:
  // Runs one call of the plugin. Does not return if the call was given up meanwhile. [worker]
  template <typename Function>
  auto pass(Function&& function) {
    enter();
    auto result = std::forward<Function>(function)();
    leave();
    return result;
  }
  // True if a call was running, which is now given up for ever. False: the worker is on the host's side and ends by itself. [any thread]
  [[nodiscard]] bool give_up();

 private:
  void enter();
  void leave();

  std::mutex mutex_;
  bool inside_ = false;
  bool given_up_ = false;
};

}  // namespace sluice::pipeline
