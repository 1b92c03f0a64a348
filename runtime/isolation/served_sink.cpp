// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "runtime/isolation/served.hpp"
#include "runtime/plugin/complete_table.hpp"

namespace sluice::isolation {

namespace {

// Reports go into the results as they come. Each call has one of these at the address that its callbacks get.
struct Reports {
  ByteWriter& out;

  static void put_failure(void* self, ListTag tag, const std::uint32_t* index, const sluice_outcome* outcome) {
    ByteWriter& out = static_cast<Reports*>(self)->out;
    out.put(static_cast<std::uint8_t>(tag));
    if (index != nullptr) out.put(*index);
    put_outcome(out, plugin::read_outcome(outcome, no_secrets()));
  }
  static void record_failed(void* self, std::uint32_t index, const sluice_outcome* outcome) noexcept {
    put_failure(self, ListTag::kRecordFailed, &index, outcome);
  }
  static void call_failed(void* self, const sluice_outcome* outcome) noexcept { put_failure(self, ListTag::kCallFailed, nullptr, outcome); }
  static void durable(void* self, const sluice_assignment* partition, std::uint64_t durable_next) noexcept {
    ByteWriter& out = static_cast<Reports*>(self)->out;
    out.put(static_cast<std::uint8_t>(ListTag::kDurable));
    // None is one that nobody owns: the daemon says so.
    put_assignment(out, partition == nullptr ? sluice_assignment{} : *partition);
    out.put(durable_next);
  }
  void end() { out.put(static_cast<std::uint8_t>(ListTag::kEnd)); }
};

class ServedSink final : public Served {
 public:
  explicit ServedSink(const sluice_sink& sink) : sink_(sink) {}
  ~ServedSink() override { sink_.destroy(sink_.self); }

  std::int32_t call(CallKind kind, const sluice_call& call, ByteReader& in, ByteWriter& out, plugin::OutcomeSlot& outcome) override {
    switch (kind) {
      case CallKind::kOpen: {
        sluice_text config{};
        if (!get(in, config)) return kUnreadable;
        return sink_.open(sink_.self, &call, config, outcome.writer());
      }
      case CallKind::kAssign:
        return assign(call, in, out, outcome);
      case CallKind::kWrite:
        return write(call, in, out);
      case CallKind::kFlush:
        return flush(call, out);
      case CallKind::kRevoke:
        if (!read_parts(in)) return kUnreadable;
        return sink_.revoke(sink_.self, &call, pointers_.data(), static_cast<std::uint32_t>(pointers_.size()), outcome.writer());
      case CallKind::kClose:
        return sink_.close(sink_.self, &call, outcome.writer());
      default:
        return kUnreadable;
    }
  }
  void cancel() noexcept override { sink_.cancel(sink_.self); }

 private:
  bool read_parts(ByteReader& in) {
    std::uint32_t count = 0;
    if (!get(in, count)) return false;
    parts_.clear();
    pointers_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!get(in, parts_.emplace_back())) return false;
    }
    for (const sluice_assignment& part : parts_) pointers_.push_back(&part);
    return true;
  }
  std::int32_t assign(const sluice_call& call, ByteReader& in, ByteWriter& out, plugin::OutcomeSlot& outcome) {
    if (!read_parts(in)) return kUnreadable;
    std::vector<std::uint64_t> resume_next;
    resume_next.reserve(parts_.size());
    for (const sluice_assignment& part : parts_) resume_next.push_back(part.committed_next);
    const std::int32_t status = sink_.assign(sink_.self, &call, pointers_.data(), static_cast<std::uint32_t>(pointers_.size()),
                                             resume_next.data(), outcome.writer());
    for (const std::uint64_t next : resume_next) out.put(next);
    return status;
  }
  std::int32_t write(const sluice_call& call, ByteReader& in, ByteWriter& out) {
    Reports reports{out};
    sluice_write_result result{};
    if (!batch_.read(in) || batch_.abi().record_count == 0 || !get(in, result.durable_next)) return kUnreadable;
    result.struct_size = sizeof result;
    result.accepted_next = batch_.abi().records[0].offset;
    result.host_data = &reports;
    result.record_failed = &Reports::record_failed;
    result.call_failed = &Reports::call_failed;
    result.durable = &Reports::durable;
    const std::int32_t status = sink_.write(sink_.self, &call, &batch_.abi(), &result);
    reports.end();
    out.put(result.accepted_next);
    out.put(result.durable_next);
    return status;
  }
  std::int32_t flush(const sluice_call& call, ByteWriter& out) {
    Reports reports{out};
    sluice_flush_result result{};
    result.struct_size = sizeof result;
    result.host_data = &reports;
    result.call_failed = &Reports::call_failed;
    result.durable = &Reports::durable;
    const std::int32_t status = sink_.flush(sink_.self, &call, &result);
    reports.end();
    return status;
  }

  sluice_sink sink_;
  std::vector<sluice_assignment> parts_;
  std::vector<const sluice_assignment*> pointers_;
  ReadBatch batch_;
};

}  // namespace

std::unique_ptr<Served> serve_sink(const sluice_connector_factory& factory, std::uint32_t index, const sluice_host* host,
                                   plugin::OutcomeSlot& failure) {
  const sluice_sink* sink = factory.create_sink(index, host, failure.writer());
  if (sink == nullptr) return nullptr;
  if (!plugin::is_complete(*sink)) {
    failure.outcome() = plugin::contract_violation("create_sink returned a table that is too short or lacks a function");
    return nullptr;
  }
  return std::make_unique<ServedSink>(*sink);
}

}  // namespace sluice::isolation
