// SPDX-License-Identifier: Apache-2.0
// The host's side of one poll: takes what the source hands out, checks it, and passes it on. Internal to runtime/plugin and the
// plugin's side of runtime/isolation.
#pragma once

#include <sluice/abi/source.h>

#include "runtime/plugin/source_instance.hpp"

namespace sluice::plugin {

// Lives for one poll, on the worker's thread.
class PollWriter {
 public:
  PollWriter(const PollRequest& request, RecordSink& records, const InstanceOptions& options, const std::vector<std::string>& secrets);
  PollWriter(const PollWriter&) = delete;
  PollWriter& operator=(const PollWriter&) = delete;

  [[nodiscard]] const sluice_source_writer* writer() const { return &writer_; }
  [[nodiscard]] std::optional<Outcome>& outcome() { return outcome_; }
  // `failure`: the verdict on the call's status.
  [[nodiscard]] PollReport finish(std::optional<Outcome> failure);

 private:
  static std::int32_t on_append(void* self, const sluice_record* record, std::uint32_t output, std::int32_t partition) noexcept;
  static sluice_status on_set_state(void* self, sluice_bytes state) noexcept;
  static void on_fail(void* self, const sluice_outcome* outcome) noexcept;

  [[nodiscard]] std::int32_t append(const sluice_record& record, std::uint32_t output, std::int32_t partition);
  [[nodiscard]] std::int32_t refuse(const RecordView& record, std::uint32_t output, Outcome why);
  [[nodiscard]] std::int32_t answer(AppendAnswer answer, std::int32_t if_taken, std::uint32_t output, std::int32_t partition);
  // What is wrong with the record's pointers, lengths and flags, or nothing.
  [[nodiscard]] static std::string malformed(const sluice_record& record);
  [[nodiscard]] std::int32_t blame(std::string text);

  const PollRequest& request_;
  RecordSink& records_;
  const InstanceOptions& options_;
  const std::vector<std::string>& secrets_;
  sluice_source_writer writer_{};
  Headers headers_;
  PollReport report_;
  std::optional<Outcome> violation_;
  std::optional<Outcome> outcome_;
  bool state_refused_ = false;
};

}  // namespace sluice::plugin
