// SPDX-License-Identifier: Apache-2.0
// No function here throws: what could, is memory, and the daemon ends without it anyway.
#include "runtime/isolation/remote_instance.hpp"

namespace sluice::isolation {

namespace {

struct RemoteSource {
  RemoteSource(std::unique_ptr<PluginProcess> process, const sluice_host& host) : instance(std::move(process), host) {}

  static RemoteSource& of(void* self) { return *static_cast<RemoteSource*>(self); }

  static sluice_status migrate_state(void* self, const sluice_call* call, const sluice_source_state* from, const sluice_bytes_writer* to,
                                     const sluice_outcome_writer* failure) noexcept {
    RemoteInstance& instance = of(self).instance;
    ByteWriter out = instance.begin();
    out.put(from->version);
    put_bytes(out, from->bytes);
    const auto read = [&](ByteReader& in) {
      sluice_bytes state{};
      if (!get(in, state)) return false;
      (void)to->write(to->host_data, state.ptr, state.len);
      return true;
    };
    return instance.run(CallKind::kMigrateState, *call, read, RemoteInstance::fail_to(failure));
  }

  static sluice_status open(void* self, const sluice_call* call, sluice_text config, const sluice_source_state* state,
                            const sluice_outcome_writer* failure) noexcept {
    RemoteInstance& instance = of(self).instance;
    ByteWriter out = instance.begin();
    put_text(out, config);
    out.put(static_cast<std::uint8_t>(state == nullptr ? 0 : 1));
    out.put(state == nullptr ? 0U : state->version);
    put_bytes(out, state == nullptr ? sluice_bytes{} : state->bytes);
    return instance.run(CallKind::kOpen, *call, failure);
  }

  static sluice_status poll(void* self, const sluice_call* call, const sluice_poll_request* request,
                            const sluice_source_writer* writer) noexcept {
    RemoteSource& source = of(self);
    ByteWriter out = source.instance.begin();
    out.put(request->max_records);
    out.put(request->max_bytes);
    out.put(request->wait_until_ns);
    out.put(request->batch_id);
    bool turned_away = false;
    const auto read = [&](ByteReader& in) {
      for (std::uint8_t tag = 0; get(in, tag) && tag != static_cast<std::uint8_t>(ListTag::kEnd);) {
        std::uint32_t output = 0;
        std::int32_t partition = 0;
        if (!source.record.read(in) || !get(in, output) || !get(in, partition)) return false;
        if (turned_away) continue;
        const std::int32_t answer = writer->append(writer->host_data, &source.record.abi(), output, partition);
        turned_away = answer == SLUICE_APPEND_FULL || answer == SLUICE_APPEND_INVALID;
      }
      std::uint8_t has_state = 0;
      sluice_bytes state{};
      if (!get(in, has_state) || !get(in, state)) return false;
      if (has_state != 0 && !turned_away) (void)writer->set_state(writer->host_data, state);
      return true;
    };
    const auto fail = [&](const sluice_outcome& outcome) { writer->fail(writer->host_data, &outcome); };
    const sluice_status status = source.instance.run(CallKind::kPoll, *call, read, fail, request->wait_until_ns);
    if (!turned_away || status != SLUICE_OK) return status;
    // The child was told that all of them were taken: it is to hand them out again.
    (void)source.tell_result(*call, request->batch_id, SLUICE_BATCH_NACKED, fail);
    plugin::Outcome outcome;
    outcome.outcome_class = plugin::OutcomeClass::kTransient;
    outcome.code = "plugin.poll_turned_away";
    outcome.text = "the poll of the plugin's process held more than the log takes at once; it is asked again";
    fail(abi_outcome(outcome));
    return SLUICE_FAILED;
  }

  template <typename Fail>
  sluice_status tell_result(const sluice_call& call, std::uint64_t batch_id, std::int32_t result, const Fail& fail) {
    ByteWriter out = instance.begin();
    out.put(batch_id);
    out.put(result);
    return instance.run(CallKind::kOnResult, call, [](ByteReader&) { return true; }, fail);
  }
  static sluice_status on_result(void* self, const sluice_call* call, std::uint64_t batch_id, std::int32_t result,
                                 const sluice_outcome_writer* failure) noexcept {
    return of(self).tell_result(*call, batch_id, result, RemoteInstance::fail_to(failure));
  }

  static sluice_status plain(void* self, CallKind kind, const sluice_call* call, const sluice_outcome_writer* failure) {
    RemoteInstance& instance = of(self).instance;
    (void)instance.begin();
    return instance.run(kind, *call, failure);
  }
  static sluice_status pause(void* self, const sluice_call* call, const sluice_outcome_writer* failure) noexcept {
    return plain(self, CallKind::kPause, call, failure);
  }
  static sluice_status resume(void* self, const sluice_call* call, const sluice_outcome_writer* failure) noexcept {
    return plain(self, CallKind::kResume, call, failure);
  }
  static sluice_status close(void* self, const sluice_call* call, const sluice_outcome_writer* failure) noexcept {
    return plain(self, CallKind::kClose, call, failure);
  }
  static void destroy(void* self) noexcept { delete &of(self); }
  static void cancel(void* self) noexcept { of(self).instance.cancel(); }
  static const void* get_extension(void*, const char*) noexcept { return nullptr; }

  RemoteInstance instance;
  ReadRecord record;
  sluice_source table{};
};

}  // namespace

const sluice_source* create_remote_source(const RemoteOptions& options, std::uint32_t index, const sluice_host* host,
                                          const sluice_outcome_writer* failure) {
  auto process = RemoteInstance::create(options, /*is_sink=*/false, index, *host, failure);
  if (!process) return nullptr;
  auto* const source = new RemoteSource(std::move(process), *host);
  source->table = {.struct_size = sizeof(sluice_source),
                   .reserved = 0,
                   .self = source,
                   .migrate_state = &RemoteSource::migrate_state,
                   .open = &RemoteSource::open,
                   .poll = &RemoteSource::poll,
                   .on_result = &RemoteSource::on_result,
                   .pause = &RemoteSource::pause,
                   .resume = &RemoteSource::resume,
                   .close = &RemoteSource::close,
                   .destroy = &RemoteSource::destroy,
                   .cancel = &RemoteSource::cancel,
                   .get_extension = &RemoteSource::get_extension};
  return &source->table;
}

}  // namespace sluice::isolation
