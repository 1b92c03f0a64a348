// SPDX-License-Identifier: Apache-2.0
// No function here throws: what could, is memory, and the daemon ends without it anyway.
#include "runtime/isolation/remote_instance.hpp"

namespace sluice::isolation {

namespace {

struct RemoteSink {
  RemoteSink(std::unique_ptr<PluginProcess> process, const sluice_host& host) : instance(std::move(process), host) {}

  static RemoteSink& of(void* self) { return *static_cast<RemoteSink*>(self); }

  static sluice_status open(void* self, const sluice_call* call, sluice_text config, const sluice_outcome_writer* failure) noexcept {
    RemoteInstance& instance = of(self).instance;
    ByteWriter out = instance.begin();
    put_text(out, config);
    return instance.run(CallKind::kOpen, *call, failure);
  }

  static void put_parts(ByteWriter& out, const sluice_assignment* const* parts, std::uint32_t count) {
    out.put(count);
    for (std::uint32_t i = 0; i < count; ++i) put_assignment(out, *parts[i]);
  }
  static sluice_status assign(void* self, const sluice_call* call, const sluice_assignment* const* parts, std::uint32_t count,
                              std::uint64_t* resume_next, const sluice_outcome_writer* failure) noexcept {
    RemoteInstance& instance = of(self).instance;
    ByteWriter out = instance.begin();
    put_parts(out, parts, count);
    const auto read = [&](ByteReader& in) {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (!get(in, resume_next[i])) return false;
      }
      return true;
    };
    return instance.run(CallKind::kAssign, *call, read, RemoteInstance::fail_to(failure));
  }
  static sluice_status revoke(void* self, const sluice_call* call, const sluice_assignment* const* parts, std::uint32_t count,
                              const sluice_outcome_writer* failure) noexcept {
    RemoteInstance& instance = of(self).instance;
    ByteWriter out = instance.begin();
    put_parts(out, parts, count);
    return instance.run(CallKind::kRevoke, *call, failure);
  }

  // What the child's plugin reported during the call, in its order.
  template <typename Result, typename RecordFailed>
  static bool replay_reports(ByteReader& in, Result& result, const RecordFailed& record_failed) {
    for (std::uint8_t tag = 0; get(in, tag);) {
      switch (static_cast<ListTag>(tag)) {
        case ListTag::kEnd:
          return true;
        case ListTag::kRecordFailed: {
          std::uint32_t index = 0;
          if (!get(in, index)) return false;
          const auto outcome = get_outcome(in);
          if (!outcome || !record_failed(index, abi_outcome(*outcome))) return false;
          break;
        }
        case ListTag::kCallFailed: {
          const auto outcome = get_outcome(in);
          if (!outcome) return false;
          const sluice_outcome abi = abi_outcome(*outcome);
          result.call_failed(result.host_data, &abi);
          break;
        }
        case ListTag::kDurable: {
          sluice_assignment partition{};
          std::uint64_t durable_next = 0;
          if (!get(in, partition) || !get(in, durable_next)) return false;
          result.durable(result.host_data, &partition, durable_next);
          break;
        }
        default:
          return false;
      }
    }
    return false;
  }
  static sluice_status write(void* self, const sluice_call* call, const sluice_batch* batch, sluice_write_result* result) noexcept {
    RemoteInstance& instance = of(self).instance;
    ByteWriter out = instance.begin();
    put_batch(out, *batch);
    out.put(result->durable_next);
    const auto record_failed = [&](std::uint32_t index, const sluice_outcome& outcome) {
      result->record_failed(result->host_data, index, &outcome);
      return true;
    };
    const auto read = [&](ByteReader& in) {
      return replay_reports(in, *result, record_failed) && get(in, result->accepted_next) && get(in, result->durable_next);
    };
    const auto fail = [&](const sluice_outcome& outcome) { result->call_failed(result->host_data, &outcome); };
    return instance.run(CallKind::kWrite, *call, read, fail);
  }
  static sluice_status flush(void* self, const sluice_call* call, const sluice_flush_result* result) noexcept {
    RemoteInstance& instance = of(self).instance;
    (void)instance.begin();
    const auto no_record = [](std::uint32_t, const sluice_outcome&) { return false; };
    const auto read = [&](ByteReader& in) { return replay_reports(in, *result, no_record); };
    const auto fail = [&](const sluice_outcome& outcome) { result->call_failed(result->host_data, &outcome); };
    return instance.run(CallKind::kFlush, *call, read, fail);
  }
  static sluice_status close(void* self, const sluice_call* call, const sluice_outcome_writer* failure) noexcept {
    RemoteInstance& instance = of(self).instance;
    (void)instance.begin();
    return instance.run(CallKind::kClose, *call, failure);
  }
  static void destroy(void* self) noexcept { delete &of(self); }
  static void cancel(void* self) noexcept { of(self).instance.cancel(); }
  static const void* get_extension(void*, const char*) noexcept { return nullptr; }

  RemoteInstance instance;
  sluice_sink table{};
};

}  // namespace

const sluice_sink* create_remote_sink(const RemoteOptions& options, std::uint32_t index, const sluice_host* host,
                                      const sluice_outcome_writer* failure) {
  auto process = RemoteInstance::create(options, /*is_sink=*/true, index, *host, failure);
  if (!process) return nullptr;
  auto* const sink = new RemoteSink(std::move(process), *host);
  sink->table = {.struct_size = sizeof(sluice_sink),
                 .reserved = 0,
                 .self = sink,
                 .open = &RemoteSink::open,
                 .assign = &RemoteSink::assign,
                 .write = &RemoteSink::write,
                 .flush = &RemoteSink::flush,
                 .revoke = &RemoteSink::revoke,
                 .close = &RemoteSink::close,
                 .destroy = &RemoteSink::destroy,
                 .cancel = &RemoteSink::cancel,
                 .get_extension = &RemoteSink::get_extension};
  return &sink->table;
}

}  // namespace sluice::isolation
