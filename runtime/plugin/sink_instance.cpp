// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/sink_instance.hpp"

#include <map>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "runtime/plugin/complete_table.hpp"
#include "runtime/plugin/loaded_plugin.hpp"
#include "runtime/plugin/write_collector.hpp"

namespace sluice::plugin {

struct SinkInstance::Core final : InstanceCore {
  using InstanceCore::InstanceCore;
  void destroy_plugin() override { sink.destroy(sink.self); }
  void cancel_plugin() override { sink.cancel(sink.self); }

  sluice_sink sink{};  // a copy: a plugin that overwrites its table changes nothing here
  OwnedPartitions owned;
};

SinkInstance::SinkInstance(std::unique_ptr<Core> core) : Instance(std::move(core)) {}

SinkInstance::Core& SinkInstance::core() {
  return static_cast<Core&>(*core_);
}

CallResult<std::unique_ptr<SinkInstance>> SinkInstance::create(std::shared_ptr<LoadedPlugin> plugin, std::string_view connector,
                                                               InstanceOptions options) {
  const auto index = plugin->find(/*is_sink=*/true, connector);
  if (!index) return std::unexpected(index.error());
  const LoadedPlugin& owner = *plugin;
  const auto make = [&](const sluice_host* host, const sluice_outcome_writer* failure) { return owner.create_sink(*index, host, failure); };
  return create(std::make_unique<Core>(std::move(plugin), std::move(options)), make);
}

CallResult<std::unique_ptr<SinkInstance>> SinkInstance::create(const sluice_connector_factory& factory, std::uint32_t index,
                                                               InstanceOptions options) {
  const auto make = [&](const sluice_host* host, const sluice_outcome_writer* failure) {
    return factory.create_sink(index, host, failure);
  };
  return create(std::make_unique<Core>(nullptr, std::move(options)), make);
}

CallResult<std::unique_ptr<SinkInstance>> SinkInstance::create(std::unique_ptr<Core> core, const MakeTable& make) {
  const sluice_sink* table = nullptr;
  const auto created = core->simple_call("create_sink", [&](const sluice_outcome_writer* failure) {
    const auto control = core->control();
    table = make(core->host().table(), failure);
    return table != nullptr ? SLUICE_OK : SLUICE_FAILED;
  });
  if (!created) return std::unexpected(created.error());
  if (!is_complete(*table))
    return std::unexpected(contract_violation("create_sink returned a table that is too short or lacks a function"));
  core->sink = *table;
  return std::unique_ptr<SinkInstance>(new SinkInstance(std::move(core)));
}

// Worker calls take the core at their beginning and never look at `this` again: an abandoned instance may be gone when its call returns.
CallResult<void> SinkInstance::open(std::string_view config_json, const CallOptions& call) {
  Core& core = this->core();
  if (core.cancelled()) return std::unexpected(core.cancelled_outcome("open"));
  return core.simple_call("open", [&](const sluice_outcome_writer* failure) {
    const sluice_call abi_call = InstanceCore::call_of(call);
    return core.sink.open(core.sink.self, &abi_call, {config_json.data(), config_json.size()}, failure);
  });
}

CallResult<std::vector<Offset>> SinkInstance::assign(std::span<const Assignment> parts, const CallOptions& call) {
  Core& core = this->core();
  if (core.cancelled()) return std::unexpected(core.cancelled_outcome("assign"));
  std::vector<const sluice_assignment*> abi_parts;
  std::vector<std::uint64_t> resume_next;
  for (const Assignment& part : parts) {
    if (!core.owned.contains(part.ref)) continue;
    Outcome outcome;
    outcome.code = error_info(sluice::Errc::kInternal).name;
    outcome.text = fmt::format("partition {} of {}/{} is assigned already", part.partition, part.topic.stream, part.topic.topic);
    return std::unexpected(std::move(outcome));
  }
  for (const Assignment& part : parts) {
    const auto position = core.owned.try_emplace(part.ref, part, core.options().cluster_id).first;
    abi_parts.push_back(&position->second.abi());
    resume_next.push_back(part.committed_next.value());
  }
  const auto assigned = core.simple_call("assign", [&](const sluice_outcome_writer* failure) {
    const sluice_call abi_call = InstanceCore::call_of(call);
    return core.sink.assign(core.sink.self, &abi_call, abi_parts.data(), narrow<std::uint32_t>(abi_parts.size()), resume_next.data(),
                            failure);
  });
  std::vector<Offset> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!assigned) {
      core.owned.erase(parts[i].ref);
      continue;
    }
    out.emplace_back(resume_next[i]);
    core.owned.at(parts[i].ref).start_at(out.back());
  }
  if (!assigned) return std::unexpected(assigned.error());
  return out;
}

WriteReport SinkInstance::write(client::PartitionRef partition, const sluice_batch& batch, const CallOptions& call) {
  Core& core = this->core();
  const auto owned = core.owned.find(partition);
  SLUICE_ASSERT(owned != core.owned.end(), "a batch of {} records for group {}, which is not assigned", batch.record_count,
                partition.group);
  WriteCollector collector(core.owned, owned->second, batch, core.host().secrets());
  if (core.cancelled()) return collector.nothing(core.cancelled_outcome("write"));
  auto failure = core.call("write", collector.outcome(), [&] {
    const sluice_call abi_call = InstanceCore::call_of(call);
    return core.sink.write(core.sink.self, &abi_call, &batch, collector.result());
  });
  return collector.finish(std::move(failure));
}

FlushReport SinkInstance::flush(const CallOptions& call) {
  Core& core = this->core();
  FlushCollector collector(core.owned, core.host().secrets());
  if (core.cancelled()) return {.durable = {}, .failure = core.cancelled_outcome("flush")};
  auto failure = core.call("flush", collector.outcome(), [&] {
    const sluice_call abi_call = InstanceCore::call_of(call);
    return core.sink.flush(core.sink.self, &abi_call, collector.result());
  });
  return collector.finish(std::move(failure));
}

CallResult<void> SinkInstance::revoke(std::span<const client::PartitionRef> partitions, const CallOptions& call) {
  Core& core = this->core();
  std::vector<const sluice_assignment*> abi_parts;
  for (const client::PartitionRef ref : partitions) {
    const auto owned = core.owned.find(ref);
    SLUICE_ASSERT(owned != core.owned.end(), "group {} is revoked but was not assigned", ref.group);
    abi_parts.push_back(&owned->second.abi());
  }
  CallResult<void> revoked;
  if (core.cancelled()) {
    revoked = std::unexpected(core.cancelled_outcome("revoke"));
  } else {
    revoked = core.simple_call("revoke", [&](const sluice_outcome_writer* failure) {
      const sluice_call abi_call = InstanceCore::call_of(call);
      return core.sink.revoke(core.sink.self, &abi_call, abi_parts.data(), narrow<std::uint32_t>(abi_parts.size()), failure);
    });
  }
  for (const client::PartitionRef ref : partitions) core.owned.erase(ref);
  return revoked;
}

CallResult<void> SinkInstance::close(const CallOptions& call) {
  Core& core = this->core();
  auto closed = core.simple_call("close", [&](const sluice_outcome_writer* failure) {
    const sluice_call abi_call = InstanceCore::call_of(call);
    return core.sink.close(core.sink.self, &abi_call, failure);
  });
  core.owned.clear();
  return closed;
}

}  // namespace sluice::plugin
