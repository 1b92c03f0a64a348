// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/pipeline_run.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "core/client/client.hpp"
#include "core/node/node.hpp"
#include "runtime/pipeline/supervisor.hpp"

namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kRunDeadline = 120s;
constexpr auto kCloseDeadline = 30s;
constexpr auto kSampleInterval = 2ms;

config::ConnectorConfig connector(const char* key, config::ConnectorType type, const PipelineRun& run) {
  config::ConnectorConfig out;
  out.key = key;
  out.type = type;
  out.batching.records_max = run.batch_records;
  config::StreamConfig stream;
  stream.name = {"bench", "pipe"};
  stream.topic.partitions = run.partitions;
  stream.topic.enforce_fsync = false;
  out.streams.push_back(stream);
  return out;
}

// Waits a moment without a deadline of its own; the caller's loop has one.
void pause_sampling() {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable never;
  never.wait_for(lock, kSampleInterval);
}

Result<std::uint64_t> delivered(const pipeline::Supervisor& supervisor) {
  SLUICE_TRY(const pipeline::ConnectorStatus status, supervisor.status("bench_out"));
  if (status.state == pipeline::State::kError) {
    return fail(Errc::kInternal, fmt::format("the sink stopped: {}", status.last_error ? status.last_error->text : "no reason given"));
  }
  std::uint64_t count = 0;
  for (const pipeline::PartitionStatus& partition : status.partitions) count += partition.accounting.delivered;
  return count;
}

Result<double> records_per_second(const pipeline::Supervisor& supervisor, std::uint64_t records) {
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point first_time;
  std::uint64_t first_count = 0;
  while (std::chrono::steady_clock::now() - begin < kRunDeadline) {
    SLUICE_TRY(const std::uint64_t count, delivered(supervisor));
    const auto now = std::chrono::steady_clock::now();
    if (first_count == 0 && count >= records / 10) {
      first_count = count;
      first_time = now;
    }
    if (count >= records) {
      const std::chrono::duration<double> seconds = now - first_time;
      if (count == first_count || seconds.count() <= 0) return fail(Errc::kInternal, "the run was too short to be measured; raise --scale");
      return static_cast<double>(count - first_count) / seconds.count();
    }
    pause_sampling();
  }
  return fail(Errc::kTimeout,
              fmt::format("{} records were not delivered within {} s", records, std::chrono::seconds(kRunDeadline).count()));
}

}  // namespace

Result<double> measure_pipeline(plugin::PluginCatalog& plugins, const std::filesystem::path& directory, const PipelineRun& run) {
  node::NodeOptions node_options;
  node_options.data_dir = directory.string();
  SLUICE_TRY(const std::unique_ptr<node::Node> node, node::Node::open(std::move(node_options)));
  Result<double> measured = fail(Errc::kInternal, "not run");
  {
    client::Client client(*node);
    pipeline::Supervisor supervisor({.client = &client, .plugins = &plugins, .cluster_id = node->cluster_id()});
    config::ConnectorConfig source = connector("bench_in", config::ConnectorType::kSource, run);
    source.plugin = "random_source";
    source.plugin_config_json =
        fmt::format(R"({{"count":{},"rate":0,"payload_min":"{}","payload_max":"{}"}})", run.records, run.payload_size, run.payload_size);
    config::ConnectorConfig sink = connector("bench_out", config::ConnectorType::kSink, run);
    sink.plugin = run.sink;
    sink.plugin_config_json = run.sink_config_json;
    sink.isolation = run.sink_isolation;
    std::vector<config::ConnectorConfig> connectors;
    connectors.push_back(std::move(source));
    connectors.push_back(std::move(sink));
    supervisor.start(std::move(connectors), {});
    measured = records_per_second(supervisor, run.records);
    const pipeline::StopReport report = supervisor.stop();
    if (!report.drained) return fail(Errc::kTimeout, "the benchmark's connectors did not stop");
  }
  SLUICE_CHECK(node->close(kCloseDeadline));
  return measured;
}

}  // namespace sluice::bench
