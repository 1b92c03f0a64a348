// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/audit.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/pipeline/dead_letter.hpp"
#include "runtime/pipeline/failure.hpp"

namespace sluice::pipeline {

namespace {

constexpr std::uint32_t kAuditRecordsMax = 10'000;  // of one read

struct Scanned {
  std::uint64_t records = 0;
  std::uint64_t gaps = 0;
  std::uint64_t trimmed = 0;  // removed by retention meanwhile
};

// Calls `visit(LogRecord)` for every record of [from, to).
template <typename Visit>
Result<Scanned> scan(client::Client& client, client::PartitionRef partition, Offset from, Offset to, const std::stop_token& stop,
                     Visit&& visit) {
  Scanned out;
  while (from < to) {
    if (stop.stop_requested()) return fail(sluice::Errc::kCancelled, "the audit was told to end");
    const auto read = client.read(partition, {.from = from, .records_max = kAuditRecordsMax});
    if (!read) {
      const auto earliest = read.error().is(client::Errc::kOutOfRange) ? earliest_of(read.error()) : std::nullopt;
      if (!earliest || *earliest <= from) return fail(read.error());
      out.trimmed += std::min(*earliest, to) - from;
      from = *earliest;
      continue;
    }
    if (read->next <= from) break;
    Offset at = from;
    for (const client::LogRecord& record : read->records) {
      if (record.offset >= to) break;
      out.gaps += record.offset - at;
      at = record.offset.next();
      ++out.records;
      visit(record);
    }
    const Offset end = std::min(read->next, to);
    if (end > at) out.gaps += end - at;
    from = read->next;
  }
  return out;
}

std::string judge(const AuditRow& row, bool dead_letters_complete) {
  const std::uint64_t covered = row.committed_next - row.start_offset;
  if (row.committed.sum() != covered) {
    return fmt::format("the buckets sum to {}, but {} offsets are committed", row.committed.sum(), covered);
  }
  if (row.log_records + row.log_gaps + row.log_trimmed != covered) {
    return fmt::format("the log has {} records, {} gaps and {} trimmed offsets where {} are committed", row.log_records, row.log_gaps,
                       row.log_trimmed, covered);
  }
  if (row.committed.gap > row.log_gaps + row.log_trimmed || (row.log_trimmed == 0 && row.committed.gap != row.log_gaps)) {
    return fmt::format("{} offsets were counted as gaps, the log has {}", row.committed.gap, row.log_gaps);
  }
  if (row.committed.expired > row.log_trimmed) {
    return fmt::format("{} offsets were counted as expired, but only {} are trimmed", row.committed.expired, row.log_trimmed);
  }
  if (dead_letters_complete && row.dead_letters_found < row.committed.dead_lettered) {
    return fmt::format("{} records were counted as dead letters, {} are found", row.committed.dead_lettered, row.dead_letters_found);
  }
  return {};
}

Result<AuditRow> audit_partition(client::Client& client, const config::ConnectorConfig& config, const client::TopicInfo& topic,
                                 const client::PartitionInfo& partition, const DeadLetterOffsets& buried, const std::stop_token& stop) {
  AuditRow row;
  row.topic = topic.name;
  row.partition = partition.index;
  if (partition.refused) {
    row.consistent = false;
    row.finding = partition.refused->to_string();
    return row;
  }
  SLUICE_TRY(const auto position, client.position(partition.ref, config.key));
  if (!position) {
    row.start_offset = row.committed_next = partition.first_offset;
    return row;
  }
  row.start_offset = position->start_offset;
  row.committed_next = position->committed_next;
  row.committed = position->accounting;
  const Offset from = std::clamp(partition.first_offset, row.start_offset, row.committed_next);
  row.log_trimmed = from - row.start_offset;
  SLUICE_TRY(const auto counts, scan(client, partition.ref, from, row.committed_next, stop, [](const client::LogRecord&) {}));
  row.log_records = counts.records;
  row.log_gaps = counts.gaps;
  row.log_trimmed += counts.trimmed;
  if (const auto found = buried.by_partition.find({topic.name, partition.index, topic.incarnation}); found != buried.by_partition.end()) {
    const auto& offsets = found->second;
    row.dead_letters_found =
        static_cast<std::uint64_t>(std::distance(offsets.lower_bound(row.start_offset), offsets.lower_bound(row.committed_next)));
  }
  row.finding = judge(row, buried.complete);
  row.consistent = row.finding.empty();
  return row;
}

}  // namespace

Result<DeadLetterOffsets> find_dead_letters(client::Client& client, const std::string& connector, const std::stop_token& stop) {
  DeadLetterOffsets found;
  const auto topic = client.describe_topic(dead_letter_topic(connector));
  if (!topic && topic.error().is(client::Errc::kTopicNotFound)) return found;
  if (!topic) return fail(topic.error());
  const client::PartitionInfo& partition = topic->partitions.front();
  if (partition.refused) return fail(*partition.refused);
  found.complete = partition.first_offset == Offset(0);
  const auto keep = [&](const client::LogRecord& record) {
    const auto letter = decode_dead_letter(record.record);
    if (!letter || !letter->reason.from_sink) return;
    const Coordinates& at = letter->reason.source;
    found.by_partition[{at.topic, at.partition, at.incarnation}].insert(at.offset);
  };
  SLUICE_TRY(const auto scanned, scan(client, partition.ref, partition.first_offset, partition.next_offset, stop, keep));
  found.complete = found.complete && scanned.trimmed == 0;
  return found;
}

Result<std::vector<AuditRow>> audit_sink(client::Client& client, const config::ConnectorConfig& config, const std::stop_token& stop) {
  // Positions are read before the dead letters are: a letter is in the log before its offset is committed.
  std::vector<client::TopicInfo> topics;
  for (const config::StreamConfig& stream : config.streams) {
    SLUICE_TRY(auto topic, client.describe_topic(stream.name));
    topics.push_back(std::move(topic));
  }
  SLUICE_TRY(auto buried, find_dead_letters(client, config.key, stop));
  std::vector<AuditRow> rows;
  for (const client::TopicInfo& topic : topics) {
    for (const client::PartitionInfo& partition : topic.partitions) {
      SLUICE_TRY(auto row, audit_partition(client, config, topic, partition, buried, stop));
      if (!row.consistent && buried.complete && row.dead_letters_found < row.committed.dead_lettered) {
        // Committed meanwhile; the letter is there by now, or it is missing indeed.
        SLUICE_TRY(buried, find_dead_letters(client, config.key, stop));
        SLUICE_TRY(row, audit_partition(client, config, topic, partition, buried, stop));
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Result<std::optional<client::SourceState>> newest_source_state(client::Client& client, const config::ConnectorConfig& config) {
  std::optional<client::SourceState> newest;
  for (const config::StreamConfig& stream : config.streams) {
    const auto topic = client.describe_topic(stream.name);
    if (!topic && topic.error().is(client::Errc::kTopicNotFound)) continue;
    if (!topic) return fail(topic.error());
    for (const client::PartitionInfo& partition : topic->partitions) {
      if (partition.refused) continue;
      SLUICE_TRY(auto state, client.source_state(partition.ref, config.key));
      if (state && (!newest || state->sequence > newest->sequence)) newest = std::move(state);
    }
  }
  return newest;
}

Result<std::vector<AuditRow>> audit_source(client::Client& client, const config::ConnectorConfig& config, const std::stop_token& stop) {
  SLUICE_TRY(const auto state, newest_source_state(client, config));
  std::vector<AuditRow> rows;
  for (const config::StreamConfig& stream : config.streams) {
    SLUICE_TRY(const auto topic, client.describe_topic(stream.name));
    for (const client::PartitionInfo& partition : topic.partitions) {
      AuditRow row;
      row.topic = topic.name;
      row.partition = partition.index;
      row.consistent = !partition.refused;
      if (partition.refused) {
        row.finding = partition.refused->to_string();
      } else {
        row.committed_next = partition.next_offset;
        row.log_trimmed = partition.first_offset - Offset(0);
        SLUICE_TRY(const auto counts,
                   scan(client, partition.ref, partition.first_offset, partition.next_offset, stop, [](const client::LogRecord&) {}));
        row.log_records = counts.records;
        row.log_gaps = counts.gaps;
        row.log_trimmed += counts.trimmed;
      }
      rows.push_back(std::move(row));
    }
  }
  if (!state || rows.empty()) return rows;
  AuditRow& first = rows.front();
  first.committed = state->accounting;
  std::uint64_t logged = 0;
  for (const AuditRow& row : rows) logged += row.log_records + row.log_trimmed;
  if (state->in != state->accounting.sum()) {
    first.finding = fmt::format("the source took in {} records, its buckets sum to {}", state->in, state->accounting.sum());
  } else if (state->accounting.delivered > logged) {
    first.finding = fmt::format("the source appended {} records, its topics have seen {}", state->accounting.delivered, logged);
  }
  first.consistent = first.consistent && first.finding.empty();
  return rows;
}

}  // namespace sluice::pipeline
