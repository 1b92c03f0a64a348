// SPDX-License-Identifier: Apache-2.0
// From a loaded plugin to a source that is open where it left off.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/pipeline/failure.hpp"
#include "runtime/pipeline/source_worker.hpp"
#include "runtime/plugin/loaded_plugin.hpp"

namespace sluice::pipeline {

SourceWorker::SourceWorker(WorkerContext context) : Worker(std::move(context)), rate_(config().records_per_second_max, now()) {}
SourceWorker::~SourceWorker() = default;

Ending SourceWorker::work(const std::shared_ptr<plugin::LoadedPlugin>& plugin) {
  auto ending = [&]() -> std::optional<Ending> {
    const auto index = plugin->find(/*is_sink=*/false, config().connector);
    if (!index) return failed(index.error());
    descriptor_ = plugin->description().connectors[*index];
    context_.board->update([&](ConnectorStatus& status, StateTracker&, Instant) { status.plugin_version = descriptor_.version; });
    if (auto stopped = prepare_outputs()) return stopped;
    if (auto stopped = create_instance(plugin)) return stopped;
    return restore_and_open();
  }();
  if (!ending) ending = serve();
  if (instance_) wind_down();
  return *std::move(ending);
}

std::optional<Ending> SourceWorker::prepare_outputs() {
  return persist([&](std::uint32_t) -> std::optional<plugin::Outcome> {
    if (config().failure.record == config::Disposition::kDeadLetter) {
      auto dead_letters = ensure_topic(dead_letter_topic(config().key), {});
      if (!dead_letters) return to_outcome(dead_letters.error());
      dead_letters_ = *std::move(dead_letters);
    }
    return begin_outputs();
  });
}

std::optional<plugin::Outcome> SourceWorker::begin_outputs() {
  batch_ = std::make_unique<SourceBatch>(SourceBatch::Options{.connector = config().key,
                                                              .plugin_version = descriptor_.version,
                                                              .cluster_id = context_.cluster_id,
                                                              .refused = config().failure.record,
                                                              .seed = system_random().next()});
  state_ = {};
  state_.connector = config().key;
  for (const config::StreamConfig& stream : config().streams) {
    const auto topic = ensure_topic(stream.name, stream.topic);
    if (!topic) return to_outcome(topic.error());
    std::vector<SourceBatch::Target> targets;
    for (const client::PartitionInfo& partition : topic->partitions) {
      // A source cannot leave a partition out: keys belong to it, and its newest state may be there.
      if (partition.refused) return to_outcome(*partition.refused);
      auto begun = context_.client->begin_source(partition.ref, config().key);
      if (!begun) return to_outcome(begun.error());
      if (begun->state && begun->state->sequence > state_.sequence) state_ = *std::move(begun->state);
      targets.push_back({partition.ref, begun->epoch, {}});
    }
    batch_->add_output(topic->name, std::move(targets));
  }
  sequence_tried_ = state_.sequence;
  return std::nullopt;
}

std::optional<Ending> SourceWorker::create_instance(const std::shared_ptr<plugin::LoadedPlugin>& plugin) {
  auto created = plugin::SourceInstance::create(plugin, descriptor_.id, instance_options());
  if (!created) return failed(std::move(created).error());
  instance_ = *std::move(created);
  watch(instance_);
  return std::nullopt;
}

std::optional<plugin::Outcome> SourceWorker::restore() {
  if (state_.state_version > descriptor_.state_version) {
    return refused(plugin::OutcomeClass::kFatal, "pipeline.newer_state",
                   fmt::format("the state in the log has version {}, written by version {} of the plugin; version {} reads up to {}",
                               state_.state_version, state_.writer_version, descriptor_.version, descriptor_.state_version),
                   "Install the plugin's newer version again.");
  }
  // Version 0: the source has never set a state, only the counts are there.
  if (state_.state_version == 0 || state_.state_version == descriptor_.state_version) return std::nullopt;
  const plugin::SavedState old{state_.state_version, state_.bytes};
  auto migrated = call([&] { return instance_->migrate_state(old, call_options()); });
  if (!migrated) return migrated.error();
  log_.info("state migrated from version {} to {}", state_.state_version, descriptor_.state_version);
  state_.bytes = *std::move(migrated);
  state_.state_version = descriptor_.state_version;
  return std::nullopt;
}

std::optional<Ending> SourceWorker::restore_and_open() {
  return persist([&](std::uint32_t attempt) -> std::optional<plugin::Outcome> {
    if (auto failure = restore()) return failure;
    std::optional<plugin::SavedState> saved;
    if (state_.state_version != 0) saved = plugin::SavedState{state_.state_version, state_.bytes};
    const auto opened = call([&] { return instance_->open(config().plugin_config_json, saved, call_options(attempt)); });
    return opened ? std::nullopt : std::optional(opened.error());
  });
}

}  // namespace sluice::pipeline
