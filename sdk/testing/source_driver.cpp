// SPDX-License-Identifier: Apache-2.0
#include <sluice/testing/source_driver.hpp>

#include "test_batch.hpp"

namespace sluice::testing {
namespace {

bool is_broken(const sluice_record& record) {
  if (record.struct_size < sizeof(sluice_record)) return true;
  if ((record.flags & ~(SLUICE_RECORD_HAS_KEY | SLUICE_RECORD_HAS_PAYLOAD)) != 0) return true;
  const auto null_with_length = [](const void* ptr, std::uint64_t len) { return ptr == nullptr && len != 0; };
  if (null_with_length(record.key.ptr, record.key.len) || null_with_length(record.payload.ptr, record.payload.len)) return true;
  if (null_with_length(record.headers, record.header_count)) return true;
  for (std::uint32_t i = 0; i < record.header_count; ++i) {
    const sluice_header& header = record.headers[i];
    if (header.name.len == 0 || null_with_length(header.name.ptr, header.name.len)) return true;
    if (null_with_length(header.value.ptr, header.value.len)) return true;
  }
  return false;
}

std::uint64_t bytes_of(const sluice_record& record) {
  std::uint64_t bytes = record.key.len + record.payload.len;
  for (std::uint32_t i = 0; i < record.header_count; ++i) bytes += record.headers[i].name.len + record.headers[i].value.len;
  return bytes;
}

TakenRecord copied(const sluice_record& abi) {
  const Record record(abi);
  TakenRecord out;
  if (record.has_key()) out.key = std::string(record.key_or_empty());
  if (!record.is_tombstone()) out.payload = std::string(record.payload_or_empty());
  for (const Header& header : record.headers()) out.headers.emplace_back(header.name(), header.value());
  out.format = record.format();
  out.schema_id = record.schema_id();
  out.origin_timestamp_us = record.origin_timestamp_us();
  return out;
}

}  // namespace

// Outlives the call, so that a writer used too late is noticed instead of crashing.
struct SourceDriver::Running {
  TestHost* host;
  PollLimits limits;
  bool active = true;
  bool full = false;
  std::uint64_t bytes = 0;
  PollReport report = {};

  static Running& of(void* host_data) { return *static_cast<Running*>(host_data); }
  [[nodiscard]] bool usable(const char* what) {
    if (!active) host->note_violation(std::string(what) + " was called after poll had returned");
    return active;
  }
  static std::int32_t append(void* host_data, const sluice_record* record, std::uint32_t output, std::int32_t partition) {
    Running& poll = of(host_data);
    if (!poll.usable("append")) return SLUICE_APPEND_INVALID;
    if (poll.full) poll.host->note_violation("append after SLUICE_APPEND_FULL: the poll should have ended");
    if (record == nullptr || is_broken(*record)) {
      poll.host->note_violation("append of a broken record");
      return SLUICE_APPEND_INVALID;
    }
    const auto partitions = static_cast<std::int32_t>(poll.limits.partitions);
    if (output >= poll.limits.outputs || partition < SLUICE_ANY_PARTITION || partition >= partitions) return SLUICE_APPEND_INVALID;
    const std::uint64_t bytes = bytes_of(*record);
    if (bytes > poll.limits.max_record_bytes) {
      ++poll.report.too_large;
      return SLUICE_APPEND_TOO_LARGE;
    }
    // The first record of a poll always fits, or it would never get through.
    const bool bytes_full = !poll.report.records.empty() && poll.bytes + bytes > poll.limits.max_bytes;
    if (poll.report.records.size() >= poll.limits.max_records || bytes_full) {
      poll.full = true;
      return SLUICE_APPEND_FULL;
    }
    poll.bytes += bytes;
    TakenRecord& taken = poll.report.records.emplace_back(copied(*record));
    taken.output = output;
    taken.partition = partition;
    return SLUICE_APPEND_OK;
  }
  static sluice_status set_state(void* host_data, sluice_bytes state) {
    Running& poll = of(host_data);
    if (!poll.usable("set_state")) return SLUICE_FAILED;
    if (state.ptr == nullptr && state.len != 0) {
      poll.host->note_violation("set_state with null and a length");
      return SLUICE_FAILED;
    }
    if (state.len > poll.limits.max_state_bytes) return SLUICE_FAILED;
    poll.report.state = std::string(view(state));
    return SLUICE_OK;
  }
  static void fail(void* host_data, const sluice_outcome* outcome) {
    Running& poll = of(host_data);
    if (poll.usable("fail")) poll.report.failure = checked_outcome(*poll.host, outcome);
  }
};

SourceDriver::SourceDriver(TestHost& host, const sluice_source* source, std::uint32_t max_batches_in_flight)
    : host_(host), source_(source), max_batches_in_flight_(max_batches_in_flight) {
  if (source == nullptr) throw ContractViolation("create_source returned null");
  const bool complete = source->migrate_state && source->open && source->poll && source->on_result && source->pause && source->resume &&
                        source->close && source->destroy && source->cancel && source->get_extension;
  if (source->struct_size < sizeof(sluice_source) || !complete) throw ContractViolation("the source's table is not complete");
}

SourceDriver::~SourceDriver() {
  if (order_.is_open()) {
    OutcomeCollector failure(host_);
    (void)source_->close(source_->self, &call_, failure.abi());
  }
  source_->destroy(source_->self);
}

std::optional<Outcome> SourceDriver::open(std::string_view config_json, std::optional<std::string> state) {
  const CallOrder::Call running(order_, CallOrder::State::kClosed, "open");
  CallMemory memory;
  OutcomeCollector failure(host_);
  sluice_source_state abi_state{};
  abi_state.struct_size = sizeof abi_state;
  abi_state.version = 1;
  if (state) abi_state.bytes = memory.bytes(*state);
  const sluice_status status = source_->open(source_->self, &call_, memory.text(config_json), state ? &abi_state : nullptr, failure.abi());
  if (status == SLUICE_OK) {
    order_.set(CallOrder::State::kOpen);
    stored_state_ = std::move(state);
  }
  return checked_status(host_, "open", status, failure.take(), cancelled_);
}

std::pair<std::optional<std::string>, std::optional<Outcome>> SourceDriver::migrate_state(std::uint32_t version, std::string_view state) {
  const CallOrder::Call running(order_, CallOrder::State::kClosed, "migrate_state");
  CallMemory memory;
  OutcomeCollector failure(host_);
  const sluice_source_state from{sizeof(sluice_source_state), version, memory.bytes(state)};
  std::string migrated;
  sluice_bytes_writer out{};
  out.struct_size = sizeof out;
  out.host_data = &migrated;
  out.write = [](void* host_data, const void* ptr, std::uint64_t len) -> sluice_status {
    static_cast<std::string*>(host_data)->append(static_cast<const char*>(ptr), len);
    return SLUICE_OK;
  };
  const sluice_status status = source_->migrate_state(source_->self, &call_, &from, &out, failure.abi());
  auto outcome = checked_status(host_, "migrate_state", status, failure.take(), cancelled_);
  if (outcome) return {std::nullopt, std::move(outcome)};
  return {std::move(migrated), std::nullopt};
}

PollReport SourceDriver::poll(const PollLimits& limits) {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "poll");
  if (paused_) throw ContractViolation("poll of a paused source");
  if (in_flight_.size() >= max_batches_in_flight_) throw ContractViolation("poll with max_batches_in_flight batches without a result");
  running_ = std::make_unique<Running>(Running{.host = &host_, .limits = limits});
  sluice_source_writer writer{};
  writer.struct_size = sizeof writer;
  writer.host_data = running_.get();
  writer.append = Running::append;
  writer.set_state = Running::set_state;
  writer.fail = Running::fail;
  sluice_poll_request request{};
  request.struct_size = sizeof request;
  request.max_records = limits.max_records;
  request.max_bytes = limits.max_bytes;
  request.wait_until_ns = host_.monotonic_ns() + static_cast<std::uint64_t>(limits.wait.count()) * 1'000'000;
  request.batch_id = next_batch_id_++;
  const sluice_status status = source_->poll(source_->self, &call_, &request, &writer);
  running_->active = false;

  PollReport report = std::move(running_->report);
  report.batch_id = request.batch_id;
  report.failure = checked_status(host_, "poll", status, std::move(report.failure), cancelled_);
  if (report.failure) {
    report.records.clear();
    report.state.reset();
  }
  if (!report.failure && (!report.records.empty() || report.too_large > 0)) in_flight_.push_back({request.batch_id, report.state});
  return report;
}

std::optional<Outcome> SourceDriver::result(std::int32_t what) {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "on_result");
  if (in_flight_.empty()) throw ContractViolation("a result without a batch in flight");
  const InFlight batch = std::move(in_flight_.front());
  in_flight_.pop_front();
  OutcomeCollector failure(host_);
  const sluice_status status = source_->on_result(source_->self, &call_, batch.batch_id, what, failure.abi());
  if (what == SLUICE_BATCH_ACKED && batch.state) stored_state_ = batch.state;
  return checked_status(host_, "on_result", status, failure.take(), cancelled_);
}

std::optional<Outcome> SourceDriver::ack() {
  return result(SLUICE_BATCH_ACKED);
}

std::optional<Outcome> SourceDriver::nack() {
  auto outcome = result(SLUICE_BATCH_NACKED);
  while (!outcome && !in_flight_.empty()) outcome = result(SLUICE_BATCH_NACKED);
  return outcome;
}

std::optional<Outcome> SourceDriver::pause() {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "pause");
  OutcomeCollector failure(host_);
  const sluice_status status = source_->pause(source_->self, &call_, failure.abi());
  paused_ = true;
  return checked_status(host_, "pause", status, failure.take(), cancelled_);
}

std::optional<Outcome> SourceDriver::resume() {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "resume");
  OutcomeCollector failure(host_);
  const sluice_status status = source_->resume(source_->self, &call_, failure.abi());
  paused_ = false;
  return checked_status(host_, "resume", status, failure.take(), cancelled_);
}

std::optional<Outcome> SourceDriver::close() {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "close");
  OutcomeCollector failure(host_);
  const sluice_status status = source_->close(source_->self, &call_, failure.abi());
  order_.set(CallOrder::State::kClosed);
  in_flight_.clear();
  paused_ = false;
  return checked_status(host_, "close", status, failure.take(), false);
}

void SourceDriver::cancel() {
  cancelled_ = true;
  source_->cancel(source_->self);
}

}  // namespace sluice::testing
