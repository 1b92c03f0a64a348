// SPDX-License-Identifier: Apache-2.0
#include "core/log/errc.hpp"

#include <algorithm>
#include <array>

namespace sluice::log {
namespace {

constexpr std::array<ErrorInfo, 25> kLogErrors{{
    {"log.refused", ErrorKind::kCorrupt,
     "An earlier start refused this directory, and the file `refused` in it says why. Its bytes are untouched. Remove that file after the "
     "cause is repaired."},
    {"log.survivor_past_damage", ErrorKind::kCorrupt,
     "Damaged bytes are followed by a whole entry, so this is not the torn end of a crash: acknowledged records may be inside the damage. "
     "Nothing was cut."},
    {"log.unverified_residue", ErrorKind::kCorrupt,
     "Bytes follow the last whole entry, and the search for entries among them reached its limit. Nothing was cut, because they may hold "
     "records."},
    {"log.damaged_segment", ErrorKind::kCorrupt,
     "A segment that was complete, or the header page of one, does not verify any more. Look at the device; restore the file from a copy."},
    {"log.hole", ErrorKind::kCorrupt, "Entries or segments are missing between those that are there. Restore the missing file."},
    {"log.empty_non_tail_segment", ErrorKind::kCorrupt,
     "A segment without entries lies before the newest one. Restore the file from a copy."},
    {"log.foreign_segment", ErrorKind::kCorrupt,
     "A file belongs to another partition, or its name does not match its contents. Put the right file there."},
    {"log.damaged_checkpoint", ErrorKind::kCorrupt, "The checkpoint file does not verify. Restore it from a copy."},
    {"log.checkpoint_past_head", ErrorKind::kCorrupt,
     "The log ends before its checkpoint, which was written after it: the end of the log is lost."},
    {"log.fsynced_log_loss", ErrorKind::kCorrupt,
     "Bytes that a sync had made durable are missing or damaged: the device lost them, or the file was cut. Look at the device; restore "
     "the "
     "file from a copy."},
    {"log.fsynced_rebuild_shortfall", ErrorKind::kCorrupt,
     "The index does not match its segment, and the segment ends before bytes that a sync had made durable. Restore the files from a "
     "copy."},
    {"log.newer_format", ErrorKind::kGiveUp, "The files were written by a newer release. Run that release."},
    {"log.older_format", ErrorKind::kGiveUp,
     "The files were written by an early release whose format is not read any more. Read them with that release and send the records "
     "again."},
    {"log.damaged_entry", ErrorKind::kCorrupt,
     "A stored entry does not verify. The message names the segment and the position; `sluice log dump` shows what is around it."},
    {"log.scrub_damage", ErrorKind::kCorrupt,
     "Bytes of a complete segment do not verify any more, so the records in them cannot be read; all others can. Look at the device, and "
     "copy the segment away. With the daemon stopped, `sluice log verify` says what is left; put a good copy of the file there, or "
     "let retention remove it. `sluice log repair` is the last resort: it cuts the log there, and takes everything behind out."},
    {"log.out_of_range", ErrorKind::kInvalidInput,
     "The position lies before the oldest entry that is kept. The error names the earliest one."},
    {"log.fenced", ErrorKind::kGiveUp,
     "A write or sync of this log failed, so nothing more is written to it. Check the device, then restart."},
    {"log.storage_full", ErrorKind::kRetry,
     "The file system is full; the log takes nothing more and has lost nothing. Free space: it goes on by itself."},
    {"log.stopped", ErrorKind::kGiveUp, "The log is closed."},
    {"log.out_of_sequence", ErrorKind::kConflict, "The entry does not follow the newest one of the log."},
    {"log.not_repairable", ErrorKind::kGiveUp,
     "A repair cuts the log at the first damage and keeps the offsets behind it unused. Here it cannot know where to go on. Restore the "
     "files "
     "from a copy, or delete the topic."},
    {"log.clock_behind", ErrorKind::kInvalidInput,
     "The clock of this machine is behind the newest entry of the log: one of the two was wrong. New entries are stamped right after the "
     "newest one until the clock has passed it. Look at the clock; reading by time is not exact in between."},
    {"log.truncated", ErrorKind::kConflict, "The group has decided on another history: the entry is not part of it. Send it again."},
    {"log.committed", ErrorKind::kConflict, "What the group has committed stays: the log is not cut below it."},
    {"log.unknown_entry", ErrorKind::kConflict, "The log holds another entry there, or none."},
}};
constexpr std::size_t kRefusals = 13;

}  // namespace

const ErrorInfo& error_info(Errc code) {
  return kLogErrors.at(static_cast<std::size_t>(code));
}

bool is_refusal(const Error& error) {
  return std::any_of(kLogErrors.begin(), kLogErrors.begin() + kRefusals, [&](const ErrorInfo& info) { return info.name == error.code(); });
}

bool is_lasting_refusal(const Error& error) {
  return is_refusal(error) && !error.is(Errc::kNewerFormat) && !error.is(Errc::kOlderFormat) && !error.is(Errc::kRefused);
}

Errc refusal_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kRefusals; ++i) {
    if (kLogErrors.at(i).name == name) return static_cast<Errc>(i);
  }
  return Errc::kRefused;
}

}  // namespace sluice::log
