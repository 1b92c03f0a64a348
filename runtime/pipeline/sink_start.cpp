// SPDX-License-Identifier: Apache-2.0
// From a loaded plugin to partitions that are served.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/pipeline/failure.hpp"
#include "runtime/pipeline/sink_worker.hpp"
#include "runtime/plugin/loaded_plugin.hpp"

namespace sluice::pipeline {

SinkWorker::SinkWorker(WorkerContext context)
    : Worker(std::move(context)),
      sink_batch_(context_.cluster_id),
      window_(config().failure.dead_letter_ratio_max),
      rate_(config().records_per_second_max, now()),
      flush_retry_(context_.retries.connector) {}

SinkWorker::~SinkWorker() = default;

Ending SinkWorker::work(const std::shared_ptr<plugin::LoadedPlugin>& plugin) {
  auto ending = [&]() -> std::optional<Ending> {
    const auto index = plugin->find(/*is_sink=*/true, config().connector);
    if (!index) return failed(index.error());
    descriptor_ = plugin->description().connectors[*index];
    context_.board->update([&](ConnectorStatus& status, StateTracker&, Instant) { status.plugin_version = descriptor_.version; });
    if (auto refused = check_promises()) return refused;
    if (auto stopped = prepare_topics()) return stopped;
    // Before the back end is asked for: retention waits for consumers that it knows.
    if (auto stopped = begin_assignments()) return stopped;
    if (auto stopped = open_instance(plugin)) return stopped;
    return assign();
  }();
  if (!ending) ending = serve();
  if (instance_) wind_down();
  return *std::move(ending);
}

std::optional<Ending> SinkWorker::check_promises() {
  if (config().ordering != config::Ordering::kNone && !descriptor_.ordered) {
    return failed(refused(plugin::OutcomeClass::kInvalidConfig, "pipeline.unordered_sink",
                          fmt::format("the sink {} does not keep the order of a partition, which `ordering` asks for", descriptor_.id),
                          "Set ordering = \"none\", or use another sink."));
  }
  if (config().ordering != config::Ordering::kPartition && descriptor_.own_positions) {
    return failed(
        refused(plugin::OutcomeClass::kInvalidConfig, "pipeline.positions_need_order",
                fmt::format("the sink {} keeps a position of its own per partition, so no record may pass another", descriptor_.id),
                "Set ordering = \"partition\"."));
  }
  return std::nullopt;
}

std::optional<Ending> SinkWorker::prepare_topics() {
  return persist([&](std::uint32_t) -> std::optional<plugin::Outcome> {
    topics_.clear();
    for (const config::StreamConfig& stream : config().streams) {
      auto topic = ensure_topic(stream.name, stream.topic);
      if (!topic) return to_outcome(topic.error());
      topics_.push_back(topic->name);
    }
    auto dead_letters = ensure_topic(dead_letter_topic(config().key), {});
    if (!dead_letters) return to_outcome(dead_letters.error());
    dead_letters_ = *std::move(dead_letters);
    return std::nullopt;
  });
}

std::optional<Ending> SinkWorker::open_instance(const std::shared_ptr<plugin::LoadedPlugin>& plugin) {
  auto created = plugin::SinkInstance::create(plugin, descriptor_.id, instance_options());
  if (!created) return failed(std::move(created).error());
  instance_ = *std::move(created);
  watch(instance_);
  return persist([&](std::uint32_t attempt) -> std::optional<plugin::Outcome> {
    const auto opened = call([&] { return instance_->open(config().plugin_config_json, call_options(attempt)); });
    return opened ? std::nullopt : std::optional(opened.error());
  });
}

std::optional<Ending> SinkWorker::begin_assignments() {
  const auto begun = persist([&](std::uint32_t) -> std::optional<plugin::Outcome> {
    begun_.clear();
    context_.board->update([](ConnectorStatus& status, StateTracker& tracker, Instant) {
      status.partitions.clear();
      tracker.set_blocked(false);
    });
    for (const client::TopicName& name : topics_) {
      const auto topic = context_.client->describe_topic(name);
      if (!topic) return to_outcome(topic.error());
      for (const client::PartitionInfo& partition : topic->partitions) {
        if (auto failure = begin_assignment(*topic, partition)) return failure;
      }
    }
    return std::nullopt;
  });
  if (begun) return begun;
  if (begun_.empty()) {
    return failed(refused(plugin::OutcomeClass::kTransient, "pipeline.all_partitions_refused",
                          "every partition of the sink's topics is refused", "`sluice topic describe` names the reasons."));
  }
  read_bytes_max_ =
      std::clamp(kReadAheadBytesMax / (2 * begun_.size()), kReadBytesMin, std::max(config().batching.bytes_max, kReadBytesMin));
  return std::nullopt;
}

std::optional<plugin::Outcome> SinkWorker::begin_assignment(const client::TopicInfo& topic, const client::PartitionInfo& partition) {
  const auto refuse = [&](const Error& error) {
    plugin::Outcome why = to_outcome(error);
    log_.error("partition {} of {} is refused and not read: {}", partition.index, client::to_string(topic.name), why.text);
    context_.board->update([&](ConnectorStatus& status, StateTracker& tracker, Instant) {
      PartitionStatus shown;
      shown.topic = topic.name;
      shown.partition = partition.index;
      shown.problem = to_problem(why, context_.clock->wall());
      status.last_error = shown.problem;
      status.partitions.push_back(std::move(shown));
      tracker.set_blocked(true);
    });
  };
  if (partition.refused) {
    if (partition.refused->kind() == ErrorKind::kRetry) return to_outcome(*partition.refused);
    refuse(*partition.refused);
    return std::nullopt;
  }
  Offset start = partition.first_offset;
  if (std::holds_alternative<config::StartLatest>(config().start_from)) start = partition.next_offset;
  if (const auto* at = std::get_if<TimestampUs>(&config().start_from)) {
    const auto found = context_.client->offset_for_time(partition.ref, *at);
    if (!found) return to_outcome(found.error());
    start = *found;
  }
  const auto position = context_.client->begin_assignment(partition.ref, config().key, start);
  if (!position && position.error().is(client::Errc::kPartitionRefused)) {
    refuse(position.error());
    return std::nullopt;
  }
  if (!position) return to_outcome(position.error());
  begun_.push_back({{partition.ref, topic.name, partition.index, topic.incarnation, position->epoch, position->committed_next},
                    *position,
                    std::max(partition.next_offset, position->committed_next)});
  return std::nullopt;
}

std::optional<Ending> SinkWorker::assign() {
  std::vector<plugin::Assignment> parts;
  for (const Begun& begun : begun_) parts.push_back(begun.part);
  std::vector<Offset> resume_next;
  auto ended = persist([&](std::uint32_t attempt) -> std::optional<plugin::Outcome> {
    auto assigned = call([&] { return instance_->assign(parts, call_options(attempt)); });
    if (!assigned) return assigned.error();
    resume_next = *std::move(assigned);
    return std::nullopt;
  });
  if (ended) return ended;
  // Apart from the above: what is assigned must not be assigned again because the log could not be read.
  std::vector<std::set<Offset>> buried;
  ended = persist([&](std::uint32_t) -> std::optional<plugin::Outcome> {
    buried.clear();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (auto failure = judge_position(parts[i], resume_next[i], begun_[i].position, begun_[i].log_end)) return failure;
      auto found = buried_before(parts[i], resume_next[i]);
      if (!found) return to_outcome(found.error());
      buried.push_back(*std::move(found));
    }
    return std::nullopt;
  });
  if (ended) return ended;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    add_slot(parts[i], begun_[i].position, std::max(resume_next[i], parts[i].committed_next), begun_[i].log_end, std::move(buried[i]));
  }
  return std::nullopt;
}

LaneOptions SinkWorker::lane_options() const {
  LaneOptions options;
  options.ordering = config().ordering;
  options.failure = config().failure;
  options.batching = config().batching;
  options.record_delays = context_.retries.record;
  options.own_positions = descriptor_.own_positions;
  options.commit_before_next = !descriptor_.own_positions && !descriptor_.replay_idempotent;
  return options;
}

void SinkWorker::add_slot(const plugin::Assignment& part, const client::GroupPosition& position, Offset resume_next, Offset log_end,
                          std::set<Offset> buried) {
  PartitionProgress progress(position.start_offset, position.committed_next, position.accounting);
  Lane lane(lane_options(), std::move(progress), resume_next, std::move(buried));
  auto slot = std::make_unique<SinkSlot>(part, std::move(lane), context_.retries.connector);
  slot->high_watermark = log_end;
  context_.board->update([&](ConnectorStatus& status, StateTracker&, Instant) {
    slot->shown_at = status.partitions.size();
    status.partitions.emplace_back();
  });
  slots_.push_back(std::move(slot));
}

}  // namespace sluice::pipeline
