// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "core/base/assert.hpp"
#include "runtime/pipeline/status.hpp"
#include "runtime/pipeline/supervisor.hpp"

namespace sluice::pipeline {

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array kTable{
      ErrorInfo{"pipeline.connector_not_found", ErrorKind::kNotFound,
                "No connector has this key. `sluice connector list` shows those that exist."},
      ErrorInfo{"pipeline.already_paused", ErrorKind::kConflict,
                "The connector is paused already; `sluice connector resume` lets it go on."},
      ErrorInfo{"pipeline.not_paused", ErrorKind::kConflict, "The connector is not paused, so there is nothing to resume."},
      ErrorInfo{"pipeline.busy", ErrorKind::kRetry,
                "The connector cannot do this now, because it starts, stops or does not run. Look at its state and try again."},
      ErrorInfo{"pipeline.abandoned", ErrorKind::kGiveUp,
                "A call into the connector's plugin never returned and was given up. It can start again only in a new process: restart the "
                "daemon."},
      ErrorInfo{"pipeline.disabled", ErrorKind::kConflict, "The connector is defined with enabled = false."},
      ErrorInfo{"pipeline.not_redrivable", ErrorKind::kInvalidInput,
                "This dead letter cannot be given to the connector by itself: it is no dead letter of it, is not the whole record, or the "
                "sink keeps "
                "positions of its own and takes them only in order."},
  };
  static_assert(kTable.size() == static_cast<std::size_t>(Errc::kNotRedrivable) + 1);
  const auto index = static_cast<std::size_t>(code);
  SLUICE_ASSERT(index < kTable.size(), "code {}", index);
  return kTable[index];
}

std::string_view to_string(State state) {
  switch (state) {
    case State::kStarting:
      return "starting";
    case State::kConnecting:
      return "connecting";
    case State::kRunning:
      return "running";
    case State::kRetrying:
      return "retrying";
    case State::kStalled:
      return "stalled";
    case State::kPaused:
      return "paused";
    case State::kStopping:
      return "stopping";
    case State::kStopped:
      return "stopped";
    case State::kError:
      return "error";
  }
  return "unknown";
}

}  // namespace sluice::pipeline
