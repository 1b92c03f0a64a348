// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <vector>

#include <fmt/format.h>

#include "core/entry/limits.hpp"
#include "runtime/isolation/served.hpp"
#include "runtime/plugin/complete_table.hpp"
#include "runtime/plugin/poll_writer.hpp"

namespace sluice::isolation {

namespace {

// What one poll may hold so that the log takes it whole: more than enough for the 32 MiB that the host asks for.
constexpr std::uint64_t kPollRoom = entry::kEntryBytesMax - entry::kStateSectionBytesMax;
constexpr std::uint64_t kRefusedRoom = entry::kRecordBytesMax / 2;
// A refused record crosses as it came, so that the daemon may hash it.
constexpr std::uint64_t kRefusedRecordBytesMax = 48u << 20;
static_assert(kPollRoom + kRefusedRecordBytesMax + (8u << 20) < kAreaBytes, "with the state and the end of the answer");

// Whether the log will take a record, as the daemon will answer when it hears of it.
class Room final : public plugin::RecordSink {
 public:
  plugin::AppendAnswer append(const RecordView& record, std::uint32_t, std::optional<PartitionIndex>) override {
    const std::uint64_t bytes = entry::kMessageHeaderBytes + entry::kEntryAlignment + record.headers.encoded().size() +
                                (record.key ? record.key->size() : 0) + (record.payload ? record.payload->size() : 0);
    if (taken_ > 0 && taken_ + bytes > kPollRoom) return plugin::AppendAnswer::kFull;
    taken_ += bytes;
    return plugin::AppendAnswer::kOk;
  }
  plugin::AppendAnswer refuse(const RecordView& record, std::uint32_t, const plugin::Outcome&) override {
    if (refused_ >= kRefusedRoom) return plugin::AppendAnswer::kFull;
    // At most this much of it is kept.
    refused_ += std::min<std::uint64_t>(entry::kRecordBytesMax, (record.payload ? record.payload->size() : 0) + 1024);
    return plugin::AppendAnswer::kOk;
  }

 private:
  std::uint64_t taken_ = 0;
  std::uint64_t refused_ = 0;
};

class ServedSource final : public Served {
 public:
  ServedSource(const sluice_source& source, const ServedLimits& limits) : source_(source), limits_(limits) {
    options_.record_bytes_max = limits.record_bytes_max;
    options_.state_bytes_max = limits.state_bytes_max;
  }
  ~ServedSource() override { source_.destroy(source_.self); }

  std::int32_t call(CallKind kind, const sluice_call& call, ByteReader& in, ByteWriter& out, plugin::OutcomeSlot& outcome) override {
    switch (kind) {
      case CallKind::kMigrateState:
        return migrate_state(call, in, out, outcome);
      case CallKind::kOpen:
        return open(call, in, outcome);
      case CallKind::kPoll:
        return poll(call, in, out, outcome);
      case CallKind::kOnResult: {
        std::uint64_t batch_id = 0;
        std::int32_t result = 0;
        if (!get(in, batch_id) || !get(in, result)) return kUnreadable;
        return source_.on_result(source_.self, &call, batch_id, result, outcome.writer());
      }
      case CallKind::kPause:
        return source_.pause(source_.self, &call, outcome.writer());
      case CallKind::kResume:
        return source_.resume(source_.self, &call, outcome.writer());
      case CallKind::kClose:
        return source_.close(source_.self, &call, outcome.writer());
      default:
        return kUnreadable;
    }
  }
  void cancel() noexcept override { source_.cancel(source_.self); }

 private:
  std::int32_t open(const sluice_call& call, ByteReader& in, plugin::OutcomeSlot& outcome) {
    sluice_text config{};
    std::uint8_t has_state = 0;
    sluice_source_state state{.struct_size = sizeof(sluice_source_state), .version = 0, .bytes = {}};
    if (!get(in, config) || !get(in, has_state) || !get(in, state.version) || !get(in, state.bytes)) return kUnreadable;
    return source_.open(source_.self, &call, config, has_state != 0 ? &state : nullptr, outcome.writer());
  }

  struct State {
    std::uint64_t bytes_max = 0;
    ByteVector bytes;
    bool refused = false;

    static sluice_status write(void* self, const void* ptr, std::uint64_t len) noexcept {
      auto& state = *static_cast<State*>(self);
      if (state.refused || (ptr == nullptr && len > 0) || len > state.bytes_max - state.bytes.size()) {
        state.refused = true;
        return SLUICE_FAILED;
      }
      const auto* from = static_cast<const std::byte*>(ptr);
      state.bytes.insert(state.bytes.end(), from, from + len);
      return SLUICE_OK;
    }
  };
  std::int32_t migrate_state(const sluice_call& call, ByteReader& in, ByteWriter& out, plugin::OutcomeSlot& outcome) {
    sluice_source_state from{.struct_size = sizeof(sluice_source_state), .version = 0, .bytes = {}};
    if (!get(in, from.version) || !get(in, from.bytes)) return kUnreadable;
    State state{.bytes_max = limits_.state_bytes_max, .bytes = {}};
    const sluice_bytes_writer writer{.struct_size = sizeof writer, .reserved = 0, .host_data = &state, .write = &State::write};
    const std::int32_t status = source_.migrate_state(source_.self, &call, &from, &writer, outcome.writer());
    out.put_sized(Bytes(state.bytes));
    if (!state.refused || status != SLUICE_OK) return status;
    outcome.outcome() =
        plugin::contract_violation(fmt::format("migrate_state wrote null, or more than {} bytes, and went on", limits_.state_bytes_max));
    return SLUICE_FAILED;
  }

  // Passes on what the plugin appends to a writer that answers as the daemon's will, and keeps what was taken as it came.
  struct Poll {
    plugin::PollWriter& judge;
    ByteWriter& out;
    std::uint64_t too_long = 0;  // bytes of a record that cannot cross

    static std::int32_t append(void* self, const sluice_record* record, std::uint32_t output, std::int32_t partition) noexcept {
      auto& poll = *static_cast<Poll*>(self);
      const sluice_source_writer& judge = *poll.judge.writer();
      const std::int32_t answer = judge.append(judge.host_data, record, output, partition);
      if (answer != SLUICE_APPEND_OK && answer != SLUICE_APPEND_TOO_LARGE) return answer;
      if (const std::uint64_t bytes = encoded_bytes(*record); answer == SLUICE_APPEND_TOO_LARGE && bytes > kRefusedRecordBytesMax) {
        poll.too_long = bytes;
        return SLUICE_APPEND_INVALID;
      }
      poll.out.put(static_cast<std::uint8_t>(ListTag::kElement));
      put_record(poll.out, *record);
      poll.out.put(output);
      poll.out.put(partition);
      return answer;
    }
    static sluice_status set_state(void* self, sluice_bytes state) noexcept {
      const sluice_source_writer& judge = *static_cast<Poll*>(self)->judge.writer();
      return judge.set_state(judge.host_data, state);
    }
    static void fail(void* self, const sluice_outcome* outcome) noexcept {
      const sluice_source_writer& judge = *static_cast<Poll*>(self)->judge.writer();
      judge.fail(judge.host_data, outcome);
    }
  };
  std::int32_t poll(const sluice_call& call, ByteReader& in, ByteWriter& out, plugin::OutcomeSlot& outcome) {
    sluice_poll_request request{};
    request.struct_size = sizeof request;
    if (!get(in, request.max_records) || !get(in, request.max_bytes) || !get(in, request.wait_until_ns) || !get(in, request.batch_id))
      return kUnreadable;
    const plugin::PollRequest limits{.records_max = request.max_records, .bytes_max = request.max_bytes};
    Room room;
    plugin::PollWriter judge(limits, room, options_, no_secrets());
    Poll poll{.judge = judge, .out = out};
    const sluice_source_writer writer{.struct_size = sizeof writer,
                                      .reserved = 0,
                                      .host_data = &poll,
                                      .append = &Poll::append,
                                      .set_state = &Poll::set_state,
                                      .fail = &Poll::fail};
    std::int32_t status = source_.poll(source_.self, &call, &request, &writer);
    out.put(static_cast<std::uint8_t>(ListTag::kEnd));
    outcome.outcome() = std::move(judge.outcome());
    plugin::PollReport report = judge.finish(std::nullopt);
    if (poll.too_long > 0) {
      report.failure = plugin::contract_violation(fmt::format("poll appended a record of {} bytes; at most {} can leave a plugin's process",
                                                              poll.too_long, kRefusedRecordBytesMax));
    }
    if (report.failure) {
      outcome.outcome() = std::move(report.failure);
      status = SLUICE_FAILED;
    }
    out.put(static_cast<std::uint8_t>(report.state ? 1 : 0));
    out.put_sized(report.state ? Bytes(*report.state) : Bytes());
    return status;
  }

  sluice_source source_;
  ServedLimits limits_;
  plugin::InstanceOptions options_;
};

}  // namespace

std::unique_ptr<Served> serve_source(const sluice_connector_factory& factory, std::uint32_t index, const sluice_host* host,
                                     const ServedLimits& limits, plugin::OutcomeSlot& failure) {
  const sluice_source* source = factory.create_source(index, host, failure.writer());
  if (source == nullptr) return nullptr;
  if (!plugin::is_complete(*source)) {
    failure.outcome() = plugin::contract_violation("create_source returned a table that is too short or lacks a function");
    return nullptr;
  }
  return std::make_unique<ServedSource>(*source, limits);
}

}  // namespace sluice::isolation
