// SPDX-License-Identifier: Apache-2.0
// A sink's own position, held against what was committed and what the log has.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/pipeline/audit.hpp"
#include "runtime/pipeline/failure.hpp"
#include "runtime/pipeline/sink_worker.hpp"

namespace sluice::pipeline {

Result<std::set<Offset>> SinkWorker::buried_before(const plugin::Assignment& part, Offset resume_next) const {
  if (resume_next <= part.committed_next) return std::set<Offset>{};
  SLUICE_TRY(auto letters, find_dead_letters(*context_.client, config().key));
  return std::move(letters.by_partition[{part.topic, part.partition, part.incarnation}]);
}

// Whether the sink was given nothing of [resume_next, committed_next): offsets are committed there too that hold no record, expired, or
// became dead letters, and a sink that was not written since does not know of them.
Result<bool> SinkWorker::never_had_any(const plugin::Assignment& part, Offset resume_next, const client::GroupPosition& position) const {
  if (resume_next == part.committed_next) return true;
  SLUICE_TRY(auto letters, find_dead_letters(*context_.client, config().key));
  const std::set<Offset> buried = std::move(letters.by_partition[{part.topic, part.partition, part.incarnation}]);
  for (Offset at = resume_next; at < part.committed_next;) {
    const auto read = context_.client->read(part.ref, {.from = at});
    if (!read && read.error().is(client::Errc::kOutOfRange)) {
      SLUICE_TRY(const auto topic, context_.client->describe_topic(part.topic));
      const Offset first = topic.partitions.at(part.partition.value()).first_offset;
      if (first <= at) return fail(read.error());
      // Nobody can tell any more which of these the sink had: no more may have been removed than expired unseen or are dead letters.
      const Offset end = std::min(first, part.committed_next);
      const auto letters_there = static_cast<std::uint64_t>(std::distance(buried.lower_bound(at), buried.lower_bound(end)));
      if (end - at > position.accounting.expired + letters_there) return false;
      at = end;
      continue;
    }
    if (!read) return fail(read.error());
    for (const client::LogRecord& record : read->records) {
      if (record.offset >= part.committed_next) break;
      if (!buried.contains(record.offset)) return false;
    }
    if (read->next <= at)
      return fail(sluice::Errc::kInternal, fmt::format("a read at offset {}, below a committed one, found nothing", at));
    at = read->next;
  }
  return true;
}

std::optional<plugin::Outcome> SinkWorker::judge_position(const plugin::Assignment& part, Offset resume_next,
                                                          const client::GroupPosition& position, Offset log_end) const {
  if (resume_next < part.committed_next) {
    const auto harmless = never_had_any(part, resume_next, position);
    if (!harmless) return to_outcome(harmless.error());
    if (*harmless) return std::nullopt;
    return refused(
        plugin::OutcomeClass::kFatal, "pipeline.position_went_back",
        fmt::format("the sink has partition {} of {} up to offset {}, but up to {} was committed: records that it had are gone there",
                    part.partition, client::to_string(part.topic), resume_next, part.committed_next),
        "Put the sink's data back. Or give the connector another key and the sink a fresh place: it then begins where start_from says.");
  }
  if (resume_next > log_end) {
    return refused(plugin::OutcomeClass::kFatal, "pipeline.position_beyond_log",
                   fmt::format("the sink says it has partition {} of {} up to offset {}, but the log ends at {}", part.partition,
                               client::to_string(part.topic), resume_next, log_end),
                   "The sink's data belongs to another log, or the log lost records. Point the sink at a fresh place.");
  }
  return std::nullopt;
}

}  // namespace sluice::pipeline
