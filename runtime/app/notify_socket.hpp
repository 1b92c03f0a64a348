// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::app {

// Whoever started the daemon as a service and wants to hear how it is: systemd, by the protocol of sd_notify(3). Immutable, any thread.
class NotifySocket {
 public:
  // Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment, so that no child speaks for the daemon. Before there is
  // any other thread.
  [[nodiscard]] static NotifySocket from_environment();

  // "READY=1", "STOPPING=1", "WATCHDOG=1". If nobody wants to hear it, nothing happens. Errors: base.invalid_argument, if NOTIFY_SOCKET is
  // no path and no abstract name that fits; those of the operating system.
  [[nodiscard]] Result<void> tell(std::string_view state) const;
  // Without a WATCHDOG=1 for so long the service is taken for dead.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval() const { return watchdog_interval_; }

 private:
  std::string socket_;
  std::optional<std::chrono::microseconds> watchdog_interval_;
};

}  // namespace sluice::app
