// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/source_instance.hpp"

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "runtime/plugin/complete_table.hpp"
#include "runtime/plugin/loaded_plugin.hpp"
#include "runtime/plugin/poll_writer.hpp"

namespace sluice::plugin {

struct SourceInstance::Core final : InstanceCore {
  using InstanceCore::InstanceCore;
  void destroy_plugin() override { source.destroy(source.self); }
  void cancel_plugin() override { source.cancel(source.self); }

  sluice_source source{};  // a copy: a plugin that overwrites its table changes nothing here
};

namespace {

sluice_source_state abi_state(const SavedState& state) {
  return {.struct_size = sizeof(sluice_source_state),
          .version = state.version,
          .bytes = {reinterpret_cast<const std::uint8_t*>(state.bytes.data()), state.bytes.size()}};
}

// Collects what migrate_state writes, up to a limit.
class StateBytes {
 public:
  explicit StateBytes(std::size_t bytes_max) : bytes_max_(bytes_max) {
    writer_ = {.struct_size = sizeof(sluice_bytes_writer), .reserved = 0, .host_data = this, .write = &StateBytes::on_write};
  }
  StateBytes(const StateBytes&) = delete;
  StateBytes& operator=(const StateBytes&) = delete;

  [[nodiscard]] const sluice_bytes_writer* writer() const { return &writer_; }
  [[nodiscard]] bool refused() const { return refused_; }
  [[nodiscard]] ByteVector take() { return std::move(bytes_); }

 private:
  static sluice_status on_write(void* self, const void* ptr, std::uint64_t len) noexcept {
    auto& state = *static_cast<StateBytes*>(self);
    if (state.refused_ || (ptr == nullptr && len > 0) || len > state.bytes_max_ - state.bytes_.size()) {
      state.refused_ = true;
      return SLUICE_FAILED;
    }
    const auto* from = static_cast<const std::byte*>(ptr);
    state.bytes_.insert(state.bytes_.end(), from, from + len);
    return SLUICE_OK;
  }

  std::size_t bytes_max_;
  sluice_bytes_writer writer_{};
  ByteVector bytes_;
  bool refused_ = false;
};

}  // namespace

SourceInstance::SourceInstance(std::unique_ptr<Core> core) : Instance(std::move(core)) {}

SourceInstance::Core& SourceInstance::core() {
  return static_cast<Core&>(*core_);
}

CallResult<std::unique_ptr<SourceInstance>> SourceInstance::create(std::shared_ptr<LoadedPlugin> plugin, std::string_view connector,
                                                                   InstanceOptions options) {
  const auto index = plugin->find(/*is_sink=*/false, connector);
  if (!index) return std::unexpected(index.error());
  const LoadedPlugin& owner = *plugin;
  const auto make = [&](const sluice_host* host, const sluice_outcome_writer* failure) {
    return owner.create_source(*index, host, failure);
  };
  return create(std::make_unique<Core>(std::move(plugin), std::move(options)), make);
}

CallResult<std::unique_ptr<SourceInstance>> SourceInstance::create(const sluice_connector_factory& factory, std::uint32_t index,
                                                                   InstanceOptions options) {
  const auto make = [&](const sluice_host* host, const sluice_outcome_writer* failure) {
    return factory.create_source(index, host, failure);
  };
  return create(std::make_unique<Core>(nullptr, std::move(options)), make);
}

CallResult<std::unique_ptr<SourceInstance>> SourceInstance::create(std::unique_ptr<Core> core, const MakeTable& make) {
  const sluice_source* table = nullptr;
  const auto created = core->simple_call("create_source", [&](const sluice_outcome_writer* failure) {
    const auto control = core->control();
    table = make(core->host().table(), failure);
    return table != nullptr ? SLUICE_OK : SLUICE_FAILED;
  });
  if (!created) return std::unexpected(created.error());
  if (!is_complete(*table))
    return std::unexpected(contract_violation("create_source returned a table that is too short or lacks a function"));
  core->source = *table;
  return std::unique_ptr<SourceInstance>(new SourceInstance(std::move(core)));
}

// Worker calls take the core at their beginning and never look at `this` again: an abandoned instance may be gone when its call returns.
CallResult<ByteVector> SourceInstance::migrate_state(const SavedState& from, const CallOptions& call) {
  Core& core = this->core();
  StateBytes migrated(core.options().state_bytes_max);
  const auto done = core.simple_call_unless_cancelled("migrate_state", [&](const sluice_outcome_writer* failure) {
    const sluice_call abi_call = InstanceCore::call_of(call);
    const sluice_source_state state = abi_state(from);
    return core.source.migrate_state(core.source.self, &abi_call, &state, migrated.writer(), failure);
  });
  if (!done) return std::unexpected(done.error());
  if (migrated.refused()) {
    return std::unexpected(
        contract_violation(fmt::format("migrate_state wrote null, or more than {} bytes, and went on", core.options().state_bytes_max)));
  }
  return migrated.take();
}

CallResult<void> SourceInstance::open(std::string_view config_json, const std::optional<SavedState>& state, const CallOptions& call) {
  Core& core = this->core();
  return core.simple_call_unless_cancelled("open", [&](const sluice_outcome_writer* failure) {
    const sluice_call abi_call = InstanceCore::call_of(call);
    const sluice_source_state saved = state ? abi_state(*state) : sluice_source_state{};
    return core.source.open(core.source.self, &abi_call, {config_json.data(), config_json.size()}, state ? &saved : nullptr, failure);
  });
}

PollReport SourceInstance::poll(const PollRequest& request, RecordSink& records, const CallOptions& call) {
  Core& core = this->core();
  if (core.cancelled()) return {.records = 0, .bytes = 0, .full = false, .state = {}, .failure = core.cancelled_outcome("poll")};
  PollWriter writer(request, records, core.options(), core.host().secrets());
  auto failure = core.call("poll", writer.outcome(), [&] {
    const sluice_call abi_call = InstanceCore::call_of(call);
    const sluice_poll_request abi_request{.struct_size = sizeof(sluice_poll_request),
                                          .max_records = request.records_max,
                                          .max_bytes = request.bytes_max,
                                          .wait_until_ns = static_cast<std::uint64_t>(request.wait_until.count()),
                                          .batch_id = request.batch_id};
    return core.source.poll(core.source.self, &abi_call, &abi_request, writer.writer());
  });
  return writer.finish(std::move(failure));
}

CallResult<void> SourceInstance::on_result(std::uint64_t batch_id, bool acknowledged, const CallOptions& call) {
  Core& core = this->core();
  return core.simple_call_unless_cancelled("on_result", [&](const sluice_outcome_writer* failure) {
    const sluice_call abi_call = InstanceCore::call_of(call);
    return core.source.on_result(core.source.self, &abi_call, batch_id, acknowledged ? SLUICE_BATCH_ACKED : SLUICE_BATCH_NACKED, failure);
  });
}

CallResult<void> SourceInstance::pause(const CallOptions& call) {
  Core& core = this->core();
  return core.simple_call_unless_cancelled("pause", [&](const sluice_outcome_writer* failure) {
    const sluice_call abi_call = InstanceCore::call_of(call);
    return core.source.pause(core.source.self, &abi_call, failure);
  });
}

CallResult<void> SourceInstance::resume(const CallOptions& call) {
  Core& core = this->core();
  return core.simple_call_unless_cancelled("resume", [&](const sluice_outcome_writer* failure) {
    const sluice_call abi_call = InstanceCore::call_of(call);
    return core.source.resume(core.source.self, &abi_call, failure);
  });
}

CallResult<void> SourceInstance::close(const CallOptions& call) {
  Core& core = this->core();
  return core.simple_call("close", [&](const sluice_outcome_writer* failure) {
    const sluice_call abi_call = InstanceCore::call_of(call);
    return core.source.close(core.source.self, &abi_call, failure);
  });
}

}  // namespace sluice::plugin
