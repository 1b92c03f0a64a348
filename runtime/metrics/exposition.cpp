// SPDX-License-Identifier: Apache-2.0
#include "runtime/metrics/exposition.hpp"

#include <array>
#include <utility>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "core/client/client.hpp"

namespace sluice::metrics {

using pipeline::ConnectorStatus;
using pipeline::PartitionStatus;
using pipeline::State;
using prometheus::MetricType;

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr std::array kStates{State::kStarting, State::kConnecting, State::kRunning, State::kRetrying, State::kStalled,
                             State::kPaused,   State::kStopping,   State::kStopped, State::kError};

// The families of one exposition, in the order of their declaration; a family without samples is left out.
class Families {
 public:
  std::size_t declare(std::string name, MetricType type, std::string help) {
    families_.push_back({.name = std::move(name), .help = std::move(help), .type = type, .metric = {}});
    return families_.size() - 1;
  }
  std::size_t counter(std::string name, std::string help) { return declare(std::move(name), MetricType::Counter, std::move(help)); }
  std::size_t gauge(std::string name, std::string help) { return declare(std::move(name), MetricType::Gauge, std::move(help)); }

  template <typename T>
  void add(std::size_t family, const Labels& labels, T value) {
    prometheus::ClientMetric metric;
    for (const auto& [name, text] : labels) metric.label.push_back({name, text});
    (families_[family].type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = static_cast<double>(value);
    families_[family].metric.push_back(std::move(metric));
  }

  [[nodiscard]] std::string text() {
    std::erase_if(families_, [](const auto& family) { return family.metric.empty(); });
    return prometheus::TextSerializer().Serialize(families_);
  }

 private:
  std::vector<prometheus::MetricFamily> families_;
};

Labels with(Labels labels, std::string name, std::string value) {
  labels.emplace_back(std::move(name), std::move(value));
  return labels;
}

double seconds(TimestampUs time) {
  return static_cast<double>(time.value()) / 1e6;
}

void add_buckets(Families& out, std::size_t family, const Labels& labels,
                 const std::vector<std::pair<const char*, std::uint64_t>>& buckets) {
  for (const auto& [outcome, count] : buckets) out.add(family, with(labels, "outcome", outcome), count);
}

void expose_connectors(Families& out, const std::vector<ConnectorStatus>& connectors) {
  const auto state = out.gauge("sluice_connector_state", "1 for the state the connector is in, 0 for every other.");
  const auto retries = out.counter("sluice_connector_retries_total", "Attempts after the first, of writes, polls and connection checks.");
  const auto nacks =
      out.counter("sluice_connector_nacks_total", "Batches of a source that the log did not take and that were handed back.");
  const auto duplicates =
      out.counter("sluice_connector_possible_duplicates_total", "Records sent again after an attempt with an unknown end.");
  const auto restarts = out.counter("sluice_connector_restarts_total", "Restarts by policy or by an operator.");
  const auto bytes_in = out.counter("sluice_connector_bytes_in_total", "Bytes of records taken from the source, or read from the log.");
  const auto bytes_out = out.counter("sluice_connector_bytes_out_total", "Bytes of records appended to the log, or accepted by the sink.");
  const auto queue_records = out.gauge("sluice_connector_queue_records", "Records between the log and the back end.");
  const auto queue_bytes = out.gauge("sluice_connector_queue_bytes", "Bytes between the log and the back end.");
  const auto success = out.gauge("sluice_connector_last_success_timestamp_seconds", "When records last became durable at the other end.");
  const auto plugin_value = out.gauge("sluice_plugin_value", "What the plugin reports of itself, by name.");
  for (const ConnectorStatus& connector : connectors) {
    Labels labels{{"connector", connector.key}};
    if (connector.type) labels.emplace_back("type", *connector.type == config::ConnectorType::kSource ? "source" : "sink");
    for (const State each : kStates)
      out.add(state, with(labels, "state", std::string(pipeline::to_string(each))), connector.state == each ? 1 : 0);
    out.add(retries, labels, connector.retries);
    out.add(nacks, labels, connector.nacks);
    out.add(duplicates, labels, connector.possible_duplicates);
    out.add(restarts, labels, connector.restarts);
    out.add(bytes_in, labels, connector.bytes_in);
    out.add(bytes_out, labels, connector.bytes_out);
    out.add(queue_records, labels, connector.queue_records);
    out.add(queue_bytes, labels, connector.queue_bytes);
    if (connector.last_success_at) out.add(success, labels, seconds(*connector.last_success_at));
    for (const auto& [name, value] : connector.plugin_metrics) out.add(plugin_value, with(labels, "name", name), value);
  }
}

void expose_sources(Families& out, const std::vector<ConnectorStatus>& connectors) {
  const auto in = out.counter("sluice_source_records_in_total", "Records taken from the source.");
  const auto records = out.counter("sluice_source_records_total", "Records of a source by what became of them.");
  for (const ConnectorStatus& connector : connectors) {
    if (!connector.source) continue;
    const pipeline::SourceStatus& source = *connector.source;
    const Labels labels{{"connector", connector.key}};
    out.add(in, labels, source.in);
    add_buckets(out, records, labels,
                {{"appended", source.appended},
                 {"filtered", source.filtered},
                 {"skipped", source.skipped},
                 {"dead_lettered", source.dead_lettered}});
  }
}

void expose_sinks(Families& out, const std::vector<ConnectorStatus>& connectors) {
  const auto in = out.counter("sluice_sink_records_in_total", "Records of a sink that are settled and committed: the sum of its outcomes.");
  const auto records = out.counter("sluice_sink_records_total", "Records of a sink by what became of them.");
  const auto pending = out.gauge("sluice_sink_pending_records", "Records read and not yet committed.");
  const auto committed = out.gauge("sluice_sink_committed_offset", "First offset that is not committed.");
  const auto lag = out.gauge("sluice_sink_lag_records", "Records in the log that are not committed.");
  const auto lag_seconds = out.gauge("sluice_sink_lag_seconds", "Age of the first record that is not committed; 0 if there is none.");
  const auto attempts = out.gauge("sluice_sink_attempts", "Attempts of the batch that is being retried; 0 if none is.");
  for (const ConnectorStatus& connector : connectors) {
    for (const PartitionStatus& partition : connector.partitions) {
      const Labels labels{{"connector", connector.key},
                          {"topic", client::to_string(partition.topic)},
                          {"partition", std::to_string(partition.partition.value())}};
      const client::Accounting& sums = partition.accounting;
      // Without what is pending: it is read again after a restart, and a counter may not go back.
      out.add(in, labels, sums.sum());
      add_buckets(out, records, labels,
                  {{"delivered", sums.delivered},
                   {"filtered", sums.filtered},
                   {"skipped", sums.skipped},
                   {"dead_lettered", sums.dead_lettered},
                   {"expired", sums.expired},
                   {"gap", sums.gap}});
      out.add(pending, labels, partition.pending);
      out.add(committed, labels, partition.committed_next.value());
      out.add(lag, labels, partition.lag_records);
      out.add(lag_seconds, labels, partition.lag_seconds);
      out.add(attempts, labels, partition.attempts);
    }
  }
}

void expose_topics(Families& out, const std::vector<client::TopicInfo>& topics) {
  const auto first = out.gauge("sluice_partition_first_offset", "The earliest offset that may be read.");
  const auto next = out.gauge("sluice_partition_next_offset", "One past the newest committed record.");
  const auto size = out.gauge("sluice_partition_size_bytes", "Bytes of the partition's log files.");
  const auto refused = out.gauge("sluice_partition_refused", "1 if the partition is not served until an operator acts.");
  const auto unavailable =
      out.gauge("sluice_partition_unavailable", "1 if the partition's files could not be opened so far, which is tried again.");
  const auto scrubbed =
      out.counter("sluice_log_scrub_bytes_total", "Bytes of complete segments that the scrub has checked since the start.");
  const auto due = out.gauge("sluice_log_scrub_due_segments", "Complete segments that the scrub has not checked for its interval.");
  const auto damaged = out.gauge("sluice_log_scrub_damaged_segments", "Complete segments in which the scrub has found damage.");
  for (const client::TopicInfo& topic : topics) {
    for (const client::PartitionInfo& partition : topic.partitions) {
      const Labels labels{{"topic", client::to_string(topic.name)}, {"partition", std::to_string(partition.index.value())}};
      const bool tried_again = partition.refused && partition.refused->is(client::Errc::kPartitionUnavailable);
      out.add(refused, labels, partition.refused && !tried_again ? 1 : 0);
      out.add(unavailable, labels, tried_again ? 1 : 0);
      if (partition.refused) continue;
      out.add(first, labels, partition.first_offset.value());
      out.add(next, labels, partition.next_offset.value());
      out.add(size, labels, partition.size_bytes);
      out.add(scrubbed, labels, partition.scrub.bytes);
      out.add(due, labels, partition.scrub.due_segments);
      out.add(damaged, labels, partition.scrub.damage.size());
    }
  }
}

}  // namespace

std::string expose(const Snapshot& snapshot) {
  Families out;
  out.add(out.gauge("sluice_build_info", "1, with the version of the daemon."), {{"version", snapshot.version}}, 1);
  out.add(out.counter("sluice_log_warnings_total", "What the log could not do without losing a record: checkpoints, removed files."), {},
          snapshot.log_warnings);
  out.add(out.gauge("sluice_storage_free_bytes", "What is left of the file system of the data directory."), {},
          snapshot.storage.free_bytes);
  out.add(out.gauge("sluice_storage_low", "1 if no records are taken for lack of room, 2 if no offsets and commands either."), {},
          snapshot.storage.takes_messages     ? 0
          : snapshot.storage.takes_operations ? 1
                                              : 2);
  expose_connectors(out, snapshot.connectors);
  expose_sources(out, snapshot.connectors);
  expose_sinks(out, snapshot.connectors);
  expose_topics(out, snapshot.topics);
  return out.text();
}

}  // namespace sluice::metrics
