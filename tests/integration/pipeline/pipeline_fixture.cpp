// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/pipeline/pipeline_fixture.hpp"

#include <unistd.h>

#include <fmt/format.h>

namespace sluice::pipeline {

std::vector<std::uint64_t> offsets_of(const std::vector<Delivered>& delivered, std::uint32_t partition) {
  std::vector<std::uint64_t> offsets;
  for (const Delivered& d : delivered) {
    if (d.partition == partition) offsets.push_back(d.offset);
  }
  return offsets;
}

std::vector<std::uint64_t> range(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> out;
  for (; from < to; ++from) out.push_back(from);
  return out;
}

void PipelineTest::SetUp() {
  static int count = 0;
  directory_ = std::filesystem::temp_directory_path() / fmt::format("sluice_pipeline_{}_{}", ::getpid(), count++);
  open_core();
}

void PipelineTest::TearDown() {
  backend_.release();
  if (supervisor_) (void)stop();
  close_core();
  std::filesystem::remove_all(directory_);
}

void PipelineTest::open_core() {
  node::NodeOptions options;
  options.data_dir = directory_.string();
  options.shards = 2;
  options.io_threads = 2;
  options.reopen_interval = 5ms;
  auto opened = node::Node::open(std::move(options));
  ASSERT_TRUE(opened) << opened.error().to_string();
  node_ = *std::move(opened);
  client_ = std::make_unique<client::Client>(*node_);
}

void PipelineTest::start(std::vector<config::ConnectorConfig> connectors) {
  Supervisor::Options options;
  options.client = client_.get();
  options.cluster_id = node_->cluster_id();
  options.shutdown_deadline = shutdown_deadline_;
  options.load = [plugin = plugin_ ? plugin_ : fake_plugin(backend_)](const std::string&) -> Result<std::shared_ptr<plugin::LoadedPlugin>> {
    return plugin;
  };
  options.retries = {.connector = {.max_attempts = UINT32_MAX, .base_delay = Duration{5}, .max_delay = Duration{20}},
                     .record = {.max_attempts = UINT32_MAX, .base_delay = Duration{5}, .max_delay = Duration{20}}};
  supervisor_ = std::make_unique<Supervisor>(std::move(options));
  supervisor_->start(std::move(connectors), {});
}

StopReport PipelineTest::stop() {
  StopReport report = supervisor_->stop();
  supervisor_.reset();
  return report;
}

void PipelineTest::close_core() {
  client_.reset();
  if (node_) {
    const auto closed = node_->close(10s);
    EXPECT_TRUE(closed) << closed.error().to_string();
  }
  node_.reset();
}

StopReport PipelineTest::restart(std::vector<config::ConnectorConfig> connectors) {
  StopReport report = stop();
  close_core();
  open_core();
  start(std::move(connectors));
  return report;
}

config::ConnectorConfig PipelineTest::sink(std::uint32_t partitions) const {
  config::ConnectorConfig config;
  config.key = "out";
  config.type = config::ConnectorType::kSink;
  config.plugin = "fake";
  config.connector = "fake_sink";
  config.streams.push_back({kTopic, {}});
  config.streams.back().topic.partitions = partitions;
  config.streams.back().topic.enforce_fsync = false;
  config.restart = {.enabled = true, .base_delay = 5ms, .max_delay = 20ms};
  config.plugin_config_json = "{}";
  return config;
}

config::ConnectorConfig PipelineTest::source(std::uint32_t partitions) const {
  config::ConnectorConfig config = sink(partitions);
  config.key = "in";
  config.type = config::ConnectorType::kSource;
  config.connector = "fake_source";
  return config;
}

client::TopicInfo PipelineTest::topic(const client::TopicName& name) {
  auto info = client_->describe_topic(name);
  EXPECT_TRUE(info) << info.error().to_string();
  return info ? *info : client::TopicInfo{};
}

void PipelineTest::produce(std::uint64_t from, std::uint64_t to, std::uint32_t partition, std::uint32_t partitions,
                           std::size_t payload_bytes) {
  client::TopicOptions options;
  options.partitions = partitions;
  options.enforce_fsync = false;
  options.segment_bytes = client::kSegmentBytesMin;
  (void)client_->create_topic(kTopic, options);
  client::AppendBatch batch;
  for (std::uint64_t i = from; i < to; ++i) {
    std::string text = fmt::format("r{}", i);
    text.resize(std::max(text.size(), payload_bytes), '.');
    RecordView record;
    record.id = {i + 1, 0};
    record.payload = as_bytes(text);
    ASSERT_TRUE(batch.add(record));
  }
  const auto appended = client_->append(topic().partitions.at(partition).ref, std::move(batch));
  ASSERT_TRUE(appended) << appended.error().to_string();
}

std::vector<std::string> PipelineTest::payloads(const client::TopicName& name) {
  std::vector<std::string> out;
  for (const client::PartitionInfo& partition : topic(name).partitions) {
    Offset from = partition.first_offset;
    while (from < partition.next_offset) {
      const auto read = client_->read(partition.ref, {.from = from});
      EXPECT_TRUE(read) << read.error().to_string();
      if (!read) return out;
      for (const client::LogRecord& record : read->records) out.emplace_back(as_text(record.record.payload.value_or(Bytes{})));
      from = read->next;
    }
  }
  return out;
}

ConnectorStatus PipelineTest::status(const std::string& key) {
  auto status = supervisor_->status(key);
  EXPECT_TRUE(status) << status.error().to_string();
  return status ? *status : ConnectorStatus{};
}

PartitionStatus PipelineTest::partition(std::size_t index) {
  const ConnectorStatus now = status();
  return index < now.partitions.size() ? now.partitions[index] : PartitionStatus{};
}

void PipelineTest::expect_identity() {
  if (!supervisor_) return;
  for (const ConnectorStatus& connector : supervisor_->list()) {
    for (const PartitionStatus& p : connector.partitions) {
      ASSERT_EQ(p.accounting.sum(), p.committed_next - p.start_offset) << connector.key;
      ASSERT_LE(p.committed_next.value() + p.pending, p.high_watermark.value()) << connector.key;
    }
    if (connector.source) {
      const SourceStatus& s = *connector.source;
      ASSERT_EQ(s.in, s.appended + s.filtered + s.skipped + s.dead_lettered);
    }
  }
}

void PipelineTest::expect_audit(const std::string& key) {
  const auto rows = supervisor_->audit(key);
  ASSERT_TRUE(rows) << rows.error().to_string();
  EXPECT_FALSE(rows->empty());
  for (const AuditRow& row : *rows) EXPECT_TRUE(row.consistent) << row.finding;
}

}  // namespace sluice::pipeline
