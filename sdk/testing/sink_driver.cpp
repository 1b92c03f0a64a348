// SPDX-License-Identifier: Apache-2.0
#include <sluice/testing/sink_driver.hpp>

#include <algorithm>

#include "test_batch.hpp"

namespace sluice::testing {

// Outlives the call, so that a writer used too late is noticed instead of crashing.
struct SinkDriver::Running {
  SinkDriver* driver;
  bool active = true;
  std::uint32_t record_count = 0;
  std::vector<RecordFailure> failed = {};
  std::optional<Outcome> failure = {};

  static Running& of(void* host_data) { return *static_cast<Running*>(host_data); }
  [[nodiscard]] bool usable(const char* what) {
    if (!active) driver->host_.note_violation(std::string(what) + " was called after the call had returned");
    return active;
  }
  static void record_failed(void* host_data, std::uint32_t index, const sluice_outcome* outcome) {
    Running& call = of(host_data);
    if (!call.usable("record_failed")) return;
    const std::uint32_t next = call.failed.empty() ? 0 : call.failed.back().index + 1;
    if (index < next || index >= call.record_count) {
      return call.driver->host_.note_violation("record_failed for index " + std::to_string(index) + ", at least " + std::to_string(next) +
                                               " and below " + std::to_string(call.record_count) + " was allowed");
    }
    call.failed.push_back({index, checked_outcome(call.driver->host_, outcome)});
    if (call.failed.back().outcome.scope != OutcomeScope::kRecord) {
      call.driver->host_.note_violation("record_failed with an outcome of scope connector");
    }
  }
  static void call_failed(void* host_data, const sluice_outcome* outcome) {
    Running& call = of(host_data);
    if (call.usable("call_failed")) call.failure = checked_outcome(call.driver->host_, outcome);
  }
  static void durable(void* host_data, const sluice_assignment* partition, std::uint64_t next) {
    Running& call = of(host_data);
    if (call.usable("durable")) call.driver->note_durable(partition, next);
  }
};

SinkDriver::SinkDriver(TestHost& host, const sluice_sink* sink) : host_(host), sink_(sink) {
  if (sink == nullptr) throw ContractViolation("create_sink returned null");
  const bool complete = sink->open && sink->assign && sink->write && sink->flush && sink->revoke && sink->close && sink->destroy &&
                        sink->cancel && sink->get_extension;
  if (sink->struct_size < sizeof(sluice_sink) || !complete) throw ContractViolation("the sink's table is not complete");
}

SinkDriver::~SinkDriver() {
  if (order_.is_open()) {
    OutcomeCollector failure(host_);
    (void)sink_->close(sink_->self, &call_, failure.abi());
  }
  sink_->destroy(sink_->self);
}

std::optional<Outcome> SinkDriver::open(std::string_view config_json) {
  const CallOrder::Call running(order_, CallOrder::State::kClosed, "open");
  CallMemory memory;
  OutcomeCollector failure(host_);
  const sluice_status status = sink_->open(sink_->self, &call_, memory.text(config_json), failure.abi());
  if (status == SLUICE_OK) order_.set(CallOrder::State::kOpen);
  return checked_status(host_, "open", status, failure.take(), cancelled_);
}

AssignReport SinkDriver::assign(const std::vector<TestPartition>& parts) {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "assign");
  CallMemory memory;
  OutcomeCollector failure(host_);
  const auto abi = memory.assignments(parts);
  AssignReport report;
  for (const TestPartition& part : parts) {
    if (find(part.stream, part.topic, part.partition) != nullptr) throw ContractViolation("assign of a partition that is assigned");
    report.resume_next.push_back(part.committed_next);
  }
  const sluice_status status =
      sink_->assign(sink_->self, &call_, abi.data(), static_cast<std::uint32_t>(abi.size()), report.resume_next.data(), failure.abi());
  report.failure = checked_status(host_, "assign", status, failure.take(), cancelled_);
  for (std::size_t i = 0; i < parts.size() && status == SLUICE_OK; ++i) {
    positions_.push_back({parts[i], report.resume_next[i], report.resume_next[i], report.resume_next[i]});
  }
  return report;
}

WriteReport SinkDriver::write(const TestPartition& part, const std::vector<std::string>& payloads) {
  std::vector<TestRecord> records;
  for (const std::string& payload : payloads) records.push_back({.payload = payload});
  return write(part, records);
}

WriteReport SinkDriver::write(const TestPartition& part, const std::vector<TestRecord>& records) {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "write");
  Position* position = find(part.stream, part.topic, part.partition);
  if (position == nullptr) throw ContractViolation("write to a partition that is not assigned");
  if (records.empty()) throw ContractViolation("write of an empty batch");
  const auto memory = std::make_shared<CallMemory>();
  if (keeps_memory_) kept_memory_.push_back(memory);
  const sluice_batch* batch = memory->batch(part, records, position->next);
  running_ = std::make_unique<Running>(Running{.driver = this, .record_count = batch->record_count});
  sluice_write_result result{};
  result.struct_size = sizeof result;
  result.accepted_next = batch->records->offset;
  result.durable_next = position->durable_next;
  result.host_data = running_.get();
  result.record_failed = Running::record_failed;
  result.call_failed = Running::call_failed;
  result.durable = Running::durable;
  const sluice_status status = sink_->write(sink_->self, &call_, batch, &result);
  running_->active = false;

  WriteReport report;
  report.failure = checked_status(host_, "write", status, std::move(running_->failure), cancelled_);
  check_positions(*batch, result, *position);
  report.failed = std::move(running_->failed);
  report.accepted_next = result.accepted_next;
  report.durable_next = result.durable_next;
  memory->overwrite();
  return report;
}

void SinkDriver::check_positions(const sluice_batch& batch, const sluice_write_result& result, Position& position) {
  const std::uint64_t first = batch.records->offset;
  const auto record_at = [&batch](std::uint32_t index) {
    return reinterpret_cast<const sluice_record*>(reinterpret_cast<const std::byte*>(batch.records) +
                                                  std::size_t{index} * batch.record_stride);
  };
  const std::uint64_t end = record_at(batch.record_count - 1)->offset + 1;
  if (result.accepted_next < first || result.accepted_next > end) {
    throw ContractViolation("accepted_next " + std::to_string(result.accepted_next) + " is not within " + std::to_string(first) + " … " +
                            std::to_string(end));
  }
  const auto& failed = running_->failed;
  if (!failed.empty() && record_at(failed.back().index)->offset > result.accepted_next) {
    throw ContractViolation("record " + std::to_string(failed.back().index) + " failed, but the records up to it are not accepted");
  }
  if (result.durable_next < position.durable_next) {
    throw ContractViolation("durable_next went back from " + std::to_string(position.durable_next) + " to " +
                            std::to_string(result.durable_next));
  }
  // With nothing of this batch taken the sink may still report what it had taken before.
  if (result.durable_next > std::max(result.accepted_next, position.accepted_next)) {
    throw ContractViolation("durable_next " + std::to_string(result.durable_next) + " is beyond accepted_next " +
                            std::to_string(result.accepted_next));
  }
  // A host goes on after a failed record, and offers again what was not tried.
  position.next = result.accepted_next;
  if (!failed.empty()) position.next = std::max(position.next, record_at(failed.back().index)->offset + 1);
  position.accepted_next = std::max(position.accepted_next, result.accepted_next);
  position.durable_next = result.durable_next;
}

void SinkDriver::note_durable(const sluice_assignment* partition, std::uint64_t next) {
  if (partition == nullptr) return host_.note_violation("durable for a null partition");
  Position* position = find(view(partition->stream), view(partition->topic), partition->partition);
  if (position == nullptr) return host_.note_violation("durable for a partition that is not assigned");
  if (next < position->durable_next || next > position->accepted_next) {
    return host_.note_violation("durable " + std::to_string(next) + " is not within " + std::to_string(position->durable_next) + " … " +
                                std::to_string(position->accepted_next));
  }
  position->durable_next = next;
}

std::optional<Outcome> SinkDriver::flush() {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "flush");
  running_ = std::make_unique<Running>(Running{.driver = this});
  sluice_flush_result result{};
  result.struct_size = sizeof result;
  result.host_data = running_.get();
  result.call_failed = Running::call_failed;
  result.durable = Running::durable;
  const sluice_status status = sink_->flush(sink_->self, &call_, &result);
  running_->active = false;
  auto failure = checked_status(host_, "flush", status, std::move(running_->failure), cancelled_);
  if (failure) return failure;
  for (Position& position : positions_) position.durable_next = position.accepted_next;
  return failure;
}

std::optional<Outcome> SinkDriver::revoke(const std::vector<TestPartition>& parts) {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "revoke");
  CallMemory memory;
  OutcomeCollector failure(host_);
  const auto abi = memory.assignments(parts);
  for (const TestPartition& part : parts) {
    Position* position = find(part.stream, part.topic, part.partition);
    if (position == nullptr) throw ContractViolation("revoke of a partition that is not assigned");
    positions_.erase(positions_.begin() + (position - positions_.data()));
  }
  const sluice_status status = sink_->revoke(sink_->self, &call_, abi.data(), static_cast<std::uint32_t>(abi.size()), failure.abi());
  return checked_status(host_, "revoke", status, failure.take(), cancelled_);
}

std::optional<Outcome> SinkDriver::close() {
  const CallOrder::Call running(order_, CallOrder::State::kOpen, "close");
  OutcomeCollector failure(host_);
  const sluice_status status = sink_->close(sink_->self, &call_, failure.abi());
  order_.set(CallOrder::State::kClosed);
  positions_.clear();
  return checked_status(host_, "close", status, failure.take(), false);
}

void SinkDriver::cancel() {
  cancelled_ = true;
  sink_->cancel(sink_->self);
}

void SinkDriver::set_call(std::uint32_t attempt, std::uint64_t deadline_ns) {
  call_.attempt = attempt;
  call_.deadline_ns = deadline_ns;
}

SinkDriver::Position* SinkDriver::find(std::string_view stream, std::string_view topic, std::uint32_t partition) {
  const auto found = std::find_if(positions_.begin(), positions_.end(), [&](const Position& position) {
    return position.part.stream == stream && position.part.topic == topic && position.part.partition == partition;
  });
  return found == positions_.end() ? nullptr : &*found;
}

const SinkDriver::Position& SinkDriver::position(const TestPartition& part) const {
  const Position* found = const_cast<SinkDriver*>(this)->find(part.stream, part.topic, part.partition);
  if (found == nullptr) throw ContractViolation("a position of a partition that is not assigned");
  return *found;
}

}  // namespace sluice::testing
