// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/pipeline/fake_plugin.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace sluice::pipeline {

namespace {

FakeBackend* g_backend = nullptr;

sluice_text text_of(const char* text) {
  return {text, std::strlen(text)};
}

sluice_status fail_with(const sluice_outcome_writer* writer, const sluice_outcome& outcome) {
  writer->fail(writer->host_data, &outcome);
  return SLUICE_FAILED;
}

}  // namespace

sluice_outcome make_outcome(std::uint16_t outcome_class, std::uint16_t scope, const char* text, int http_status) {
  sluice_outcome outcome{};
  outcome.struct_size = sizeof outcome;
  outcome.outcome_class = outcome_class;
  outcome.scope = scope;
  outcome.http_status = http_status;
  outcome.code = text_of("fake.failed");
  outcome.text = text_of(text);
  return outcome;
}

std::vector<Delivered> FakeBackend::delivered() const {
  const std::lock_guard lock(mutex_);
  return delivered_;
}
void FakeBackend::clear_delivered() {
  const std::lock_guard lock(mutex_);
  delivered_.clear();
}
void FakeBackend::hang() {
  std::unique_lock lock(mutex_);
  hanging = true;
  changed_.wait(lock, [&] { return released_ || (cancelled && !ignore_cancel); });
  hanging = false;
}
void FakeBackend::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}
void FakeBackend::offer(const std::vector<std::string>& lines) {
  const std::lock_guard lock(mutex_);
  for (const std::string& line : lines) input_.emplace_back(std::nullopt, line);
}
void FakeBackend::offer_keyed(const std::vector<std::pair<std::string, std::string>>& records) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, value] : records) input_.emplace_back(key, value);
}
std::optional<std::uint64_t> FakeBackend::restored_at() const {
  const std::lock_guard lock(mutex_);
  return restored_;
}

struct FakeSinkInstance {
  sluice_sink table{};
  FakeBackend& backend;
  std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> accepted;

  explicit FakeSinkInstance(FakeBackend& to) : backend(to) {
    table.struct_size = sizeof table;
    table.self = this;
    table.open = [](void* self, const sluice_call*, sluice_text, const sluice_outcome_writer* failure) { return get(self).open(failure); };
    table.assign = [](void* self, const sluice_call*, const sluice_assignment* const* parts, std::uint32_t count,
                      std::uint64_t* resume_next, const sluice_outcome_writer*) {
      for (std::uint32_t i = 0; i < count; ++i) {
        const auto& hook = get(self).backend.resume_at;
        if (hook)
          resume_next[i] = hook(std::string(parts[i]->topic.ptr, parts[i]->topic.len), parts[i]->partition, parts[i]->committed_next);
      }
      return sluice_status{SLUICE_OK};
    };
    table.write = [](void* self, const sluice_call* call, const sluice_batch* batch, sluice_write_result* result) {
      return get(self).write(*call, *batch, *result);
    };
    table.flush = [](void* self, const sluice_call*, const sluice_flush_result* result) {
      FakeBackend& fake = get(self).backend;
      ++fake.flushes;
      const auto failure = fake.on_flush ? fake.on_flush() : std::nullopt;
      if (!failure) return sluice_status{SLUICE_OK};
      result->call_failed(result->host_data, &*failure);
      return sluice_status{SLUICE_FAILED};
    };
    table.revoke = [](void* self, const sluice_call*, const sluice_assignment* const*, std::uint32_t, const sluice_outcome_writer*) {
      ++get(self).backend.revokes;
      return sluice_status{SLUICE_OK};
    };
    table.close = [](void* self, const sluice_call*, const sluice_outcome_writer*) {
      ++get(self).backend.closes;
      return sluice_status{SLUICE_OK};
    };
    table.destroy = [](void* self) { delete static_cast<FakeSinkInstance*>(self); };
    table.cancel = [](void* self) {
      FakeBackend& fake = get(self).backend;
      const std::lock_guard lock(fake.mutex_);
      fake.cancelled = true;
      fake.changed_.notify_all();
    };
    table.get_extension = [](void*, const char*) -> const void* { return nullptr; };
  }

  static FakeSinkInstance& get(void* self) { return *static_cast<FakeSinkInstance*>(self); }

  sluice_status open(const sluice_outcome_writer* failure) {
    ++backend.opens;
    backend.cancelled = false;
    const auto why = backend.on_open ? backend.on_open() : std::nullopt;
    return why ? fail_with(failure, *why) : sluice_status{SLUICE_OK};
  }

  sluice_status write(const sluice_call& call, const sluice_batch& batch, sluice_write_result& result) {
    ++backend.writes;
    const WriteAnswer answer = backend.on_write ? backend.on_write(batch) : WriteAnswer{};
    if (answer.throws) throw std::runtime_error("the fake sink throws");
    if (answer.garbage_accepted_next) {
      result.accepted_next = *answer.garbage_accepted_next;
      return SLUICE_OK;
    }
    const std::uint64_t end = batch.records[batch.record_count - 1].offset + 1;
    const std::uint64_t accepted_next = answer.accepted_next.value_or(answer.call_failure ? batch.records[0].offset : end);
    std::size_t next_failure = 0;
    for (std::uint32_t i = 0; i < batch.record_count; ++i) {
      const sluice_record& record = batch.records[i];
      if (next_failure < answer.failures.size() && answer.failures[next_failure].index == i) {
        result.record_failed(result.host_data, i, &answer.failures[next_failure++].outcome);
        continue;
      }
      if (record.offset >= accepted_next) continue;
      const std::lock_guard lock(backend.mutex_);
      backend.delivered_.push_back({std::string(batch.topic.ptr, batch.topic.len), batch.partition, record.offset,
                                    record.origin ? std::optional(record.origin->offset) : std::nullopt,
                                    std::string(reinterpret_cast<const char*>(record.payload.ptr), record.payload.len), call.attempt});
    }
    result.accepted_next = accepted_next;
    if (answer.durable) result.durable_next = std::max(result.durable_next, accepted_next);
    if (!answer.call_failure) return SLUICE_OK;
    result.call_failed(result.host_data, &*answer.call_failure);
    return SLUICE_FAILED;
  }
};

struct FakeSourceInstance {
  sluice_source table{};
  FakeBackend& backend;
  std::uint64_t position = 0;
  std::uint64_t acked = 0;

  explicit FakeSourceInstance(FakeBackend& to) : backend(to) {
    table.struct_size = sizeof table;
    table.self = this;
    table.migrate_state = [](void* self, const sluice_call*, const sluice_source_state* from, const sluice_bytes_writer* out,
                             const sluice_outcome_writer*) {
      const std::string old(reinterpret_cast<const char*>(from->bytes.ptr), from->bytes.len);
      const std::string next = get(self).backend.on_migrate(old);
      return out->write(out->host_data, next.data(), next.size());
    };
    table.open = [](void* self, const sluice_call*, sluice_text, const sluice_source_state* state, const sluice_outcome_writer* failure) {
      return get(self).open(state, failure);
    };
    table.poll = [](void* self, const sluice_call*, const sluice_poll_request* request, const sluice_source_writer* writer) {
      return get(self).poll(*request, *writer);
    };
    table.on_result = [](void* self, const sluice_call*, std::uint64_t, std::int32_t result, const sluice_outcome_writer*) {
      FakeSourceInstance& source = get(self);
      if (result == SLUICE_BATCH_ACKED) {
        source.acked = source.position;
        source.backend.acked = source.acked;
      } else {
        source.position = source.acked;
        ++source.backend.nacks;
      }
      return sluice_status{SLUICE_OK};
    };
    table.pause = [](void* self, const sluice_call*, const sluice_outcome_writer*) {
      ++get(self).backend.pauses;
      return sluice_status{SLUICE_OK};
    };
    table.resume = [](void* self, const sluice_call*, const sluice_outcome_writer*) {
      ++get(self).backend.resumes;
      return sluice_status{SLUICE_OK};
    };
    table.close = [](void* self, const sluice_call*, const sluice_outcome_writer*) {
      ++get(self).backend.closes;
      return sluice_status{SLUICE_OK};
    };
    table.destroy = [](void* self) { delete static_cast<FakeSourceInstance*>(self); };
    table.cancel = [](void* self) { get(self).backend.cancelled = true; };
    table.get_extension = [](void*, const char*) -> const void* { return nullptr; };
  }

  static FakeSourceInstance& get(void* self) { return *static_cast<FakeSourceInstance*>(self); }

  sluice_status open(const sluice_source_state* state, const sluice_outcome_writer* failure) {
    ++backend.opens;
    const auto why = backend.on_open ? backend.on_open() : std::nullopt;
    if (why) return fail_with(failure, *why);
    const std::lock_guard lock(backend.mutex_);
    backend.restored_.reset();
    if (state != nullptr) {
      position = acked = std::stoull(std::string(reinterpret_cast<const char*>(state->bytes.ptr), state->bytes.len));
      backend.restored_ = position;
    }
    return SLUICE_OK;
  }

  sluice_status poll(const sluice_poll_request& request, const sluice_source_writer& writer) {
    ++backend.polls;
    if (const auto why = backend.on_poll ? backend.on_poll() : std::nullopt) {
      writer.fail(writer.host_data, &*why);
      return SLUICE_FAILED;
    }
    const std::lock_guard lock(backend.mutex_);
    std::uint32_t count = 0;
    while (position < backend.input_.size() && count < request.max_records) {
      const auto& [key, value] = backend.input_[position];
      sluice_record record{};
      record.struct_size = sizeof record;
      record.flags = SLUICE_RECORD_HAS_PAYLOAD;
      record.payload = {reinterpret_cast<const std::uint8_t*>(value.data()), value.size()};
      if (key) {
        record.flags |= SLUICE_RECORD_HAS_KEY;
        record.key = {reinterpret_cast<const std::uint8_t*>(key->data()), key->size()};
      }
      const std::int32_t answer = writer.append(writer.host_data, &record, 0, SLUICE_ANY_PARTITION);
      if (answer == SLUICE_APPEND_FULL) break;
      ++position;
      ++count;
    }
    std::optional<std::string> idle;
    if (count == 0 && backend.on_idle) idle = backend.on_idle();
    if (count == 0 && !idle) return SLUICE_OK;
    const std::string state = idle ? *idle : backend.raw_state.value_or(std::to_string(position));
    return writer.set_state(writer.host_data, {reinterpret_cast<const std::uint8_t*>(state.data()), state.size()});
  }
};

namespace {

sluice_descriptor g_descriptors[2];

const sluice_connector_factory g_factory = {
    .struct_size = sizeof(sluice_connector_factory),
    .count = 2,
    .descriptor = [](std::uint32_t index) -> const sluice_descriptor* { return index < 2 ? &g_descriptors[index] : nullptr; },
    .config_schema = [](std::uint32_t, const sluice_bytes_writer* out) { return out->write(out->host_data, "{}", 2); },
    .create_sink = [](std::uint32_t, const sluice_host*, const sluice_outcome_writer*) -> const sluice_sink* {
      return &(new FakeSinkInstance(*g_backend))->table;
    },
    .create_source = [](std::uint32_t, const sluice_host*, const sluice_outcome_writer*) -> const sluice_source* {
      return &(new FakeSourceInstance(*g_backend))->table;
    },
};

}  // namespace

std::shared_ptr<plugin::LoadedPlugin> fake_plugin(FakeBackend& backend) {
  g_backend = &backend;
  g_descriptors[0] = {};
  g_descriptors[0].struct_size = sizeof(sluice_descriptor);
  g_descriptors[0].kind = SLUICE_KIND_SINK;
  g_descriptors[0].id = "fake_sink";
  g_descriptors[0].summary = "a sink";
  g_descriptors[0].version = "1.0";
  g_descriptors[0].capabilities = backend.sink_capabilities;
  g_descriptors[0].max_batches_in_flight = 1;
  g_descriptors[1] = g_descriptors[0];
  g_descriptors[1].kind = SLUICE_KIND_SOURCE;
  g_descriptors[1].id = "fake_source";
  g_descriptors[1].capabilities = 0;
  g_descriptors[1].state_version = backend.source_state_version;

  plugin::PluginDescription description;
  description.id = "fake";
  description.version = "1.0";
  for (const sluice_descriptor& from : g_descriptors) {
    plugin::ConnectorDescriptor connector;
    connector.id = from.id;
    connector.is_sink = from.kind == SLUICE_KIND_SINK;
    connector.version = from.version;
    connector.ordered = (from.capabilities & SLUICE_CAPABILITY_ORDERED) != 0;
    connector.own_positions = (from.capabilities & SLUICE_CAPABILITY_OWN_POSITIONS) != 0;
    connector.replay_idempotent = (from.capabilities & SLUICE_CAPABILITY_REPLAY_IDEMPOTENT) != 0;
    connector.state_version = from.state_version;
    description.connectors.push_back(std::move(connector));
  }
  return std::make_shared<plugin::LoadedPlugin>(std::move(description), g_factory);
}

}  // namespace sluice::pipeline
