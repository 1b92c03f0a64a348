// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/call_gate.hpp"

#include <unistd.h>

namespace sluice::pipeline {

namespace {

// Unwinding would run destructors of objects that belong to a host which has moved on. The thread's memory is the price.
[[noreturn]] void park_abandoned_thread() {
  for (;;) ::pause();
}

}  // namespace

void CallGate::enter() {
  std::unique_lock lock(mutex_);
  if (given_up_) {
    lock.unlock();
    park_abandoned_thread();
  }
  inside_ = true;
}

void CallGate::leave() {
  std::unique_lock lock(mutex_);
  inside_ = false;
  if (given_up_) {
    lock.unlock();
    park_abandoned_thread();
  }
}

bool CallGate::give_up() {
  const std::lock_guard lock(mutex_);
  if (!inside_) return false;
  given_up_ = true;
  return true;
}

}  // namespace sluice::pipeline
