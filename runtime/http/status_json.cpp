// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/status_json.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/json.hpp>

#include "runtime/base/time_format.hpp"
#include "runtime/http/record_json.hpp"

namespace sluice::http {

namespace json = boost::json;
using pipeline::ConnectorStatus;
using pipeline::PartitionStatus;
using pipeline::State;

namespace {

json::value time_or_null(const std::optional<TimestampUs>& time) {
  if (!time) return nullptr;
  return json::value(format_rfc3339(*time));
}

json::value problem_or_null(const std::optional<pipeline::Problem>& problem) {
  if (!problem) return nullptr;
  json::object out;
  out["class"] = problem->outcome_class;
  out["scope"] = problem->scope;
  out["code"] = problem->code;
  out["text"] = problem->text;
  out["hint"] = problem->hint;
  if (problem->http_status != 0) out["http_status"] = problem->http_status;
  out["at"] = format_rfc3339(problem->at);
  return out;
}

json::object accounting_json(const client::Accounting& accounting) {
  json::object out;
  out["delivered"] = accounting.delivered;
  out["filtered"] = accounting.filtered;
  out["skipped"] = accounting.skipped;
  out["dead_lettered"] = accounting.dead_lettered;
  out["expired"] = accounting.expired;
  out["gap"] = accounting.gap;
  return out;
}

json::object partition_json(const PartitionStatus& partition) {
  json::object out;
  out["topic"] = client::to_string(partition.topic);
  out["partition"] = partition.partition.value();
  out["epoch"] = partition.epoch.value();
  out["start_offset"] = partition.start_offset.value();
  out["committed_next"] = partition.committed_next.value();
  out["high_watermark"] = partition.high_watermark.value();
  out["in"] = partition.accounting.sum() + partition.pending;
  out["accounting"] = accounting_json(partition.accounting);
  out["pending"] = partition.pending;
  out["lag_records"] = partition.lag_records;
  out["lag_seconds"] = partition.lag_seconds;
  out["attempts"] = partition.attempts;
  out["next_retry_at"] = time_or_null(partition.next_retry_at);
  out["problem"] = problem_or_null(partition.problem);
  return out;
}

json::object source_json(const pipeline::SourceStatus& source) {
  json::object out;
  out["in"] = source.in;
  out["appended"] = source.appended;
  out["filtered"] = source.filtered;
  out["skipped"] = source.skipped;
  out["dead_lettered"] = source.dead_lettered;
  out["state_sequence"] = source.state_sequence;
  return out;
}

json::object scrub_json(const client::PartitionInfo::Scrub& scrub) {
  json::object out;
  out["bytes"] = scrub.bytes;
  out["due_segments"] = scrub.due_segments;
  json::array damage;
  for (const Error& error : scrub.damage) {
    json::object row;
    for (const auto& [key, value] : error.context()) {
      if (key == "segment") row["segment"] = value;
      if (key == "position") row["position"] = std::strtoull(value.c_str(), nullptr, 10);
    }
    row["message"] = error.message();
    damage.push_back(std::move(row));
  }
  out["damage"] = std::move(damage);
  return out;
}

std::string_view type_name(config::ConnectorType type) {
  return type == config::ConnectorType::kSource ? "source" : "sink";
}

void put_identity(json::object& out, const ConnectorStatus& status) {
  out["key"] = status.key;
  // A definition that was rejected may not even say what it is.
  out["type"] = status.type ? json::value(type_name(*status.type)) : json::value(nullptr);
  out["plugin"] = status.type ? json::value(status.plugin) : json::value(nullptr);
  out["enabled"] = status.enabled;
  out["state"] = pipeline::to_string(status.state);
  out["since"] = format_rfc3339(status.since);
}

std::string_view hint_for(const ConnectorStatus& status) {
  switch (status.state) {
    case State::kPaused:
      return "It was paused by an operator: `sluice connector resume KEY` goes on where it stopped.";
    case State::kError:
      return "It does not try again by itself. Mend what the error names, then `sluice connector restart KEY`.";
    case State::kStalled:
      return "A call is in flight or records wait, and nothing was acknowledged: look at the other end first.";
    case State::kStopped:
      return "It is stopped or not enabled.";
    case State::kRetrying:
    case State::kConnecting:
      return "The host keeps trying; nothing is lost or skipped meanwhile.";
    case State::kStarting:
    case State::kRunning:
    case State::kStopping:
      break;
  }
  return "";
}

}  // namespace

json::object topic_json(const client::TopicInfo& topic) {
  json::object out;
  out["name"] = client::to_string(topic.name);
  out["incarnation"] = topic.incarnation.value();
  json::object options;
  options["partitions"] = topic.options.partitions;
  options["enforce_fsync"] = topic.options.enforce_fsync;
  options["flush_interval_ms"] = topic.options.flush_interval.count();
  options["segment_bytes"] = topic.options.segment_bytes;
  json::object retention;
  retention["bytes"] = topic.options.retention.bytes ? json::value(*topic.options.retention.bytes) : json::value(nullptr);
  retention["wait_for_consumers"] = topic.options.retention.wait_for_consumers;
  retention["hard_bytes"] = topic.options.retention.hard_bytes ? json::value(*topic.options.retention.hard_bytes) : json::value(nullptr);
  const auto& age = topic.options.retention.age;
  retention["age_ms"] = age ? json::value(age->count()) : json::value(nullptr);
  options["retention"] = std::move(retention);
  out["options"] = std::move(options);
  json::array partitions;
  for (const client::PartitionInfo& partition : topic.partitions) {
    json::object row;
    row["partition"] = partition.index.value();
    row["group"] = partition.ref.group.value();
    row["first_offset"] = partition.first_offset.value();
    row["next_offset"] = partition.next_offset.value();
    row["size_bytes"] = partition.size_bytes;
    row["refused"] = partition.refused ? json::value(partition.refused->to_string()) : json::value(nullptr);
    row["scrub"] = scrub_json(partition.scrub);
    partitions.push_back(std::move(row));
  }
  out["partitions"] = std::move(partitions);
  return out;
}

json::object connector_json(const ConnectorStatus& status) {
  json::object out;
  put_identity(out, status);
  out["plugin_version"] = status.plugin_version;
  out["last_error"] = problem_or_null(status.last_error);
  out["next_retry_at"] = time_or_null(status.next_retry_at);
  out["last_success_at"] = time_or_null(status.last_success_at);
  out["retries"] = status.retries;
  out["nacks"] = status.nacks;
  out["possible_duplicates"] = status.possible_duplicates;
  out["bytes_in"] = status.bytes_in;
  out["bytes_out"] = status.bytes_out;
  out["queue_records"] = status.queue_records;
  out["queue_bytes"] = status.queue_bytes;
  out["restarts"] = status.restarts;
  out["source"] = status.source ? json::value(source_json(*status.source)) : json::value(nullptr);
  json::array partitions;
  for (const PartitionStatus& partition : status.partitions) partitions.push_back(partition_json(partition));
  out["partitions"] = std::move(partitions);
  json::object plugin_metrics;
  for (const auto& [name, value] : status.plugin_metrics) plugin_metrics[name] = value;
  out["plugin_metrics"] = std::move(plugin_metrics);
  return out;
}

json::object connector_summary_json(const ConnectorStatus& status) {
  json::object out;
  put_identity(out, status);
  std::uint64_t in = status.source ? status.source->in : 0;
  std::uint64_t out_records = status.source ? status.source->appended : 0;
  std::uint64_t dead_lettered = status.source ? status.source->dead_lettered : 0;
  std::uint64_t lag = 0;
  double lag_seconds = 0;
  for (const PartitionStatus& partition : status.partitions) {
    in += partition.accounting.sum() + partition.pending;
    out_records += partition.accounting.delivered;
    dead_lettered += partition.accounting.dead_lettered;
    lag += partition.lag_records;
    lag_seconds = std::max(lag_seconds, partition.lag_seconds);
  }
  out["in"] = in;
  out["out"] = out_records;
  out["dead_lettered"] = dead_lettered;
  out["lag_records"] = lag;
  out["lag_seconds"] = lag_seconds;
  out["retries"] = status.retries;
  out["last_error"] = problem_or_null(status.last_error);
  return out;
}

json::object why_json(const ConnectorStatus& status, TimestampUs now) {
  json::object out;
  put_identity(out, status);
  out["last_error"] = problem_or_null(status.last_error);
  out["next_retry_at"] = time_or_null(status.next_retry_at);
  out["last_success_at"] = time_or_null(status.last_success_at);
  json::array waiting;
  for (const PartitionStatus& partition : status.partitions) {
    if (partition.lag_records == 0 && !partition.problem) continue;
    json::object row;
    row["topic"] = client::to_string(partition.topic);
    row["partition"] = partition.partition.value();
    row["head_offset"] = partition.committed_next.value();
    row["lag_records"] = partition.lag_records;
    row["waiting_seconds"] = partition.lag_seconds;
    row["attempts"] = partition.attempts;
    row["next_retry_at"] = time_or_null(partition.next_retry_at);
    row["problem"] = problem_or_null(partition.problem);
    waiting.push_back(std::move(row));
  }
  out["waiting"] = std::move(waiting);
  // The last error may be long over; what to do about it is of interest while it holds the connector back.
  const bool held = status.state == State::kRetrying || status.state == State::kConnecting || status.state == State::kStalled ||
                    status.state == State::kError;
  const bool mends = held && status.last_error && !status.last_error->hint.empty();
  std::string hint = mends ? status.last_error->hint : std::string(hint_for(status));
  if (const auto place = hint.find("KEY"); place != std::string::npos) hint.replace(place, 3, status.key);
  out["hint"] = hint;
  out["state_seconds"] = static_cast<double>(std::max<std::int64_t>(now.value() - status.since.value(), 0)) / 1e6;
  return out;
}

json::object audit_json(const std::string& connector, const std::vector<pipeline::AuditRow>& rows) {
  json::object out;
  out["connector"] = connector;
  out["consistent"] = std::ranges::all_of(rows, [](const auto& row) { return row.consistent; });
  json::array partitions;
  for (const pipeline::AuditRow& row : rows) {
    json::object item;
    item["topic"] = client::to_string(row.topic);
    item["partition"] = row.partition.value();
    item["start_offset"] = row.start_offset.value();
    item["committed_next"] = row.committed_next.value();
    item["committed"] = accounting_json(row.committed);
    item["committed_sum"] = row.committed.sum();
    item["log_records"] = row.log_records;
    item["log_gaps"] = row.log_gaps;
    item["log_trimmed"] = row.log_trimmed;
    item["dead_letters_found"] = row.dead_letters_found;
    item["consistent"] = row.consistent;
    item["finding"] = row.finding;
    partitions.push_back(std::move(item));
  }
  out["partitions"] = std::move(partitions);
  return out;
}

json::object source_state_json(const std::string& connector, const std::optional<client::SourceState>& state) {
  json::object out;
  out["connector"] = connector;
  if (!state) {
    out["state"] = nullptr;
    return out;
  }
  json::object envelope;
  envelope["state_version"] = state->state_version;
  envelope["writer_version"] = state->writer_version;
  envelope["sequence"] = state->sequence;
  envelope["in"] = state->in;
  envelope["accounting"] = accounting_json(state->accounting);
  envelope["size_bytes"] = state->bytes.size();
  put_bytes(envelope, "bytes", Bytes(state->bytes));
  out["state"] = std::move(envelope);
  return out;
}

bool is_ready(const ConnectorStatus& status) {
  return status.state == State::kRunning || status.state == State::kRetrying || status.state == State::kStalled ||
         status.state == State::kPaused;
}

}  // namespace sluice::http
