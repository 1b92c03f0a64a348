// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include <sluice/abi/connector.h>
#include <sluice/abi/record.h>

#include "core/base/ids.hpp"
#include "core/client/topic.hpp"
#include "runtime/plugin/instance.hpp"

namespace sluice::plugin {

// A partition that a sink instance owns from assign() to revoke().
struct Assignment {
  client::PartitionRef ref;  // how reports name it
  client::TopicName topic;
  PartitionIndex partition;
  Incarnation incarnation;
  Epoch epoch;
  Offset committed_next;
};

struct DurableAdvance {
  client::PartitionRef partition;
  Offset durable_next;
};

struct RecordFailure {
  std::uint32_t index = 0;  // in the batch
  Outcome outcome;          // scope record
};

// What became of a batch, checked: first offset ≤ accepted_next ≤ last offset + 1; durable_next never below the previous report of this
// partition and never above the highest accepted_next so far. Records below accepted_next that are not among `failures` were taken; those
// at or beyond it were not tried, except a failed one at accepted_next itself. After a broken contract: nothing accepted, nothing newly
// durable.
struct WriteReport {
  Offset accepted_next;
  Offset durable_next;
  std::vector<RecordFailure> failures;  // indexes ascending
  std::vector<DurableAdvance> others;   // other partitions that became durable meanwhile, each once
  std::optional<Outcome> failure;       // of the call as a whole: scope connector
};

struct FlushReport {
  std::vector<DurableAdvance> durable;  // each partition that advanced, once
  std::optional<Outcome> failure;
};

// A sink of a plugin. Everything it returns is checked; nothing it returns or throws harms the process.
// Thread: worker calls (open … close) one after another; running_call, metrics, cancel and abandon from any thread while the object lives.
// Life: create → open → (assign → write*/flush* → revoke)* → close → destruction. After cancel() every call but close() answers "cancelled"
// by itself.
class SinkInstance final : public Instance {
 public:
  // `connector`: an id of the plugin, or empty for its only sink. The failure's class is what the plugin says, invalid_config for an
  // unknown id.
  [[nodiscard]] static CallResult<std::unique_ptr<SinkInstance>> create(std::shared_ptr<LoadedPlugin> plugin, std::string_view connector,
                                                                        InstanceOptions options);
  // From a factory in this process. The factory outlives the instance.
  [[nodiscard]] static CallResult<std::unique_ptr<SinkInstance>> create(const sluice_connector_factory& factory, std::uint32_t index,
                                                                        InstanceOptions options);

  [[nodiscard]] CallResult<void> open(std::string_view config_json, const CallOptions& call);
  // resume_next per part: the first offset that the sink does not have. Whether it is plausible (≥ committed_next, ≤ the log's end) is for
  // the caller.
  [[nodiscard]] CallResult<std::vector<Offset>> assign(std::span<const Assignment> parts, const CallOptions& call);
  // The batch is the host's own and of `partition`, which is assigned. It must live until the call returns.
  [[nodiscard]] WriteReport write(client::PartitionRef partition, const sluice_batch& batch, const CallOptions& call);
  [[nodiscard]] FlushReport flush(const CallOptions& call);
  // The partitions are given up even if it fails.
  [[nodiscard]] CallResult<void> revoke(std::span<const client::PartitionRef> partitions, const CallOptions& call);
  // The instance is closed even if it fails.
  [[nodiscard]] CallResult<void> close(const CallOptions& call);

 private:
  struct Core;
  explicit SinkInstance(std::unique_ptr<Core> core);
  using MakeTable = std::function<const sluice_sink*(const sluice_host* host, const sluice_outcome_writer* failure)>;
  [[nodiscard]] static CallResult<std::unique_ptr<SinkInstance>> create(std::unique_ptr<Core> core, const MakeTable& make);
  [[nodiscard]] Core& core();
};

}  // namespace sluice::plugin
