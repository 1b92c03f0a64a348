// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/recovery_log.hpp"

#include <chrono>
#include <string>

#include <fmt/format.h>

#include "core/log/errc.hpp"

namespace sluice::app {

namespace {

void log_report(const std::string& where, const log::RecoveryReport& report, const logging::Logger& log) {
  if (report.cut) {
    log.warn("{}: {} damaged bytes at the end of {} from {} on were cut and set aside as {}: {}", where, report.cut->bytes,
             report.cut->segment, report.cut->position, report.cut->set_aside, report.cut->reason);
  }
  if (report.truncated_segment) {
    log.warn("{}: a truncation had been decided and not carried out: {} was removed", where, *report.truncated_segment);
  }
  if (report.slot_lost) {
    log.warn("{}: a sector that says what was acknowledged does not verify and was written anew: look at the device; {}", where,
             report.mint_from ? "the partition goes on behind a gap" : "nothing was lost");
  }
  if (report.clock_behind) {
    const auto seconds = std::chrono::duration<double>(*report.clock_behind).count();
    log.warn("{}",
             Error(log::Errc::kClockBehind, fmt::format("{}: the clock is {:.1f} s behind the newest entry", where, seconds)).to_string());
  }
}

}  // namespace

void log_recovery(const node::NodeRecovery& recovery, const logging::Logger& log) {
  if (recovery.witness_ignored) {
    log.warn("whether the process before was killed or the power failed is not known, and partitions go on behind a gap: {}",
             recovery.witness_ignored->to_string());
  }
  if (recovery.no_witness) {
    log.warn("if this process is killed, the log will not know it from a power cut, and partitions go on behind a gap: {}",
             recovery.no_witness->to_string());
  }
  log_report("catalog", recovery.catalog, log);
  for (const auto& partition : recovery.partitions) {
    const std::string where = fmt::format("{}/{} partition {}", partition.topic.stream, partition.topic.topic, partition.partition);
    if (partition.tried_again) {
      log.error("{} cannot be opened, and is tried again: {}", where, partition.refused->to_string());
    } else if (partition.refused) {
      log.error("{} is refused, its bytes are untouched: {}", where, partition.refused->to_string());
    }
    log_report(where, partition.report, log);
  }
}

void log_damage(const Error& damage, const logging::Logger& log) {
  log.error("{}: {}", damage.to_string(), damage.explanation());
}

}  // namespace sluice::app
