// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/pipeline/rate_limit.hpp"
#include "runtime/pipeline/source_batch.hpp"
#include "runtime/pipeline/worker.hpp"

namespace sluice::pipeline {

inline constexpr std::chrono::milliseconds kPollWaitMax{500};  // of one poll: how long a stop or pause may have to wait for it
inline constexpr std::uint64_t kPollBytesMax = 32ULL << 20;    // so that a poll into one partition fits into one entry with its state

// Runs one source: poll → append → acknowledgement → on_result, one batch at a time. The state rides in the entry of the batch's last
// append, and that append is made only when all others of the batch are acknowledged, so the state never runs ahead of the records. Thread:
// as Worker.
class SourceWorker final : public Worker {
 public:
  explicit SourceWorker(WorkerContext context);
  ~SourceWorker() override;

 private:
  Ending work(const std::shared_ptr<plugin::LoadedPlugin>& plugin) override;

  // source_start.cpp
  [[nodiscard]] std::optional<Ending> prepare_outputs();
  [[nodiscard]] std::optional<plugin::Outcome> begin_outputs();
  [[nodiscard]] std::optional<Ending> create_instance(const std::shared_ptr<plugin::LoadedPlugin>& plugin);
  [[nodiscard]] std::optional<Ending> restore_and_open();
  [[nodiscard]] std::optional<plugin::Outcome> restore();

  // source_worker.cpp
  [[nodiscard]] Ending serve();
  void poll_once();
  void idle(Instant until);
  [[nodiscard]] bool pause();
  void deliver(plugin::PollReport& report, std::uint64_t batch_id);
  void wind_down();
  void show(Instant now);
  void poll_failed(const plugin::Outcome& outcome);
  void fail_session(plugin::Outcome outcome, bool restartable);

  // source_append.cpp
  [[nodiscard]] Result<void> append_all(plugin::PollReport& report);
  [[nodiscard]] Result<void> append_dead_letters();
  [[nodiscard]] client::SourceState next_state(plugin::PollReport& report) const;
  // Starts an append and counts it in under_way_; its error, if any, ends in append_error_.
  void start_append(client::PartitionRef to, client::AppendBatch batch);
  [[nodiscard]] Result<void> await_appends();

  std::shared_ptr<plugin::SourceInstance> instance_;
  plugin::ConnectorDescriptor descriptor_;
  std::optional<client::TopicInfo> dead_letters_;
  std::unique_ptr<SourceBatch> batch_;
  client::SourceState state_;         // as acknowledged
  std::uint64_t sequence_tried_ = 0;  // of the newest append with state, acknowledged or not
  std::uint64_t batch_id_ = 0;
  std::uint32_t under_way_ = 0;
  std::optional<Error> append_error_;
  bool uncertain_ = false;  // the end came before the core's answer
  RateLimit rate_;
  std::optional<Ending> ending_;
};

}  // namespace sluice::pipeline
