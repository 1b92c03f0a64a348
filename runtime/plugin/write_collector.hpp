// SPDX-License-Identifier: Apache-2.0
// The host's side of one write or flush: takes what the sink reports, checks it, and makes the report. Internal to runtime/plugin.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include <sluice/abi/sink.h>

#include "runtime/plugin/sink_instance.hpp"

namespace sluice::plugin {

// What the host knows of a partition that a sink owns. At a fixed address: the plugin sees abi() during calls.
class OwnedPartition {
 public:
  OwnedPartition(const Assignment& assignment, U128 cluster_id);
  OwnedPartition(const OwnedPartition&) = delete;
  OwnedPartition& operator=(const OwnedPartition&) = delete;

  [[nodiscard]] const sluice_assignment& abi() const { return abi_; }
  [[nodiscard]] client::PartitionRef ref() const { return assignment_.ref; }
  [[nodiscard]] std::string name() const;
  [[nodiscard]] Offset accepted_next() const { return accepted_next_; }
  [[nodiscard]] Offset durable_next() const { return durable_next_; }

  // After assign: everything below is at the back end already.
  void start_at(Offset resume_next) { accepted_next_ = durable_next_ = resume_next; }
  void accept(Offset accepted_next) { accepted_next_ = std::max(accepted_next_, accepted_next); }
  // The caller has checked that it does not go back, nor beyond what was accepted.
  void advance_durable(Offset durable_next);
  [[nodiscard]] bool is_same(const sluice_assignment& other) const;

 private:
  Assignment assignment_;
  sluice_assignment abi_{};
  Offset accepted_next_;
  Offset durable_next_;
};

using OwnedPartitions = std::map<client::PartitionRef, OwnedPartition>;

// The advances of partitions that a call reports, and the first thing it got wrong. Nothing changes in a partition before apply().
class DurableReports {
 public:
  explicit DurableReports(OwnedPartitions& owned) : owned_(owned) {}

  void add(const sluice_assignment* partition, std::uint64_t durable_next);
  void blame(std::string text);
  // What is wrong with them, if anything.
  [[nodiscard]] const std::optional<Outcome>& check();
  // After a check that found nothing.
  [[nodiscard]] std::vector<DurableAdvance> apply();

 private:
  OwnedPartitions& owned_;
  std::map<client::PartitionRef, Offset> advances_;  // at most one per owned partition
  std::optional<Outcome> violation_;
};

class WriteCollector {
 public:
  WriteCollector(OwnedPartitions& owned, OwnedPartition& partition, const sluice_batch& batch, const std::vector<std::string>& secrets);
  WriteCollector(const WriteCollector&) = delete;
  WriteCollector& operator=(const WriteCollector&) = delete;

  [[nodiscard]] sluice_write_result* result() { return &result_; }
  [[nodiscard]] std::optional<Outcome>& outcome() { return outcome_; }
  // `failure`: the verdict on the call's status.
  [[nodiscard]] WriteReport finish(std::optional<Outcome> failure);
  // The report of a batch that made no progress.
  [[nodiscard]] WriteReport nothing(Outcome failure) const;

 private:
  static void on_record_failed(void* self, std::uint32_t index, const sluice_outcome* outcome) noexcept;
  static void on_call_failed(void* self, const sluice_outcome* outcome) noexcept;
  static void on_durable(void* self, const sluice_assignment* partition, std::uint64_t durable_next) noexcept;
  [[nodiscard]] Offset offset_at(std::uint32_t index) const;
  [[nodiscard]] std::optional<std::string> offsets_wrong() const;

  OwnedPartition& partition_;
  const sluice_batch& batch_;
  const std::vector<std::string>& secrets_;
  sluice_write_result result_{};
  DurableReports durable_;
  std::vector<RecordFailure> failures_;
  std::optional<Outcome> outcome_;
};

class FlushCollector {
 public:
  FlushCollector(OwnedPartitions& owned, const std::vector<std::string>& secrets);
  FlushCollector(const FlushCollector&) = delete;
  FlushCollector& operator=(const FlushCollector&) = delete;

  [[nodiscard]] const sluice_flush_result* result() const { return &result_; }
  [[nodiscard]] std::optional<Outcome>& outcome() { return outcome_; }
  [[nodiscard]] FlushReport finish(std::optional<Outcome> failure);

 private:
  static void on_call_failed(void* self, const sluice_outcome* outcome) noexcept;
  static void on_durable(void* self, const sluice_assignment* partition, std::uint64_t durable_next) noexcept;

  OwnedPartitions& owned_;
  const std::vector<std::string>& secrets_;
  sluice_flush_result result_{};
  DurableReports durable_;
  std::optional<Outcome> outcome_;
};

}  // namespace sluice::plugin
