// SPDX-License-Identifier: Apache-2.0
// How the records of a poll get into the log, and the source's state with them.
#include "runtime/pipeline/source_worker.hpp"

namespace sluice::pipeline {

client::SourceState SourceWorker::next_state(plugin::PollReport& report) const {
  client::SourceState next = state_;
  next.sequence = sequence_tried_ + 1;
  next.writer_version = descriptor_.version.substr(0, partition::kWriterVersionMax);
  if (report.state) {
    next.bytes = *std::move(report.state);
    next.state_version = descriptor_.state_version;
  }
  next.accounting.delivered += batch_->records();
  next.accounting.skipped += batch_->skipped();
  next.accounting.dead_lettered += batch_->dead_letters().size();
  next.in += batch_->records() + batch_->skipped() + batch_->dead_letters().size();
  return next;
}

Result<void> SourceWorker::append_all(plugin::PollReport& report) {
  // First what does not carry the state, all at once. Only when the log has it may the state say so.
  SLUICE_CHECK(append_dead_letters());
  const auto& used = batch_->used();
  for (std::size_t i = 0; i + 1 < used.size(); ++i) start_append(used[i]->ref, std::move(used[i]->batch));
  SLUICE_CHECK(await_appends());

  SourceBatch::Target& last = used.empty() ? batch_->resting() : *used.back();
  client::SourceState next = next_state(report);
  client::AppendBatch batch = std::move(last.batch);
  last.batch = client::AppendBatch{};
  SLUICE_CHECK(batch.set_state(next, last.epoch));
  sequence_tried_ = next.sequence;
  start_append(last.ref, std::move(batch));
  SLUICE_CHECK(await_appends());
  state_ = std::move(next);
  return {};
}

Result<void> SourceWorker::append_dead_letters() {
  if (batch_->dead_letters().empty()) return {};
  client::AppendBatch batch;
  for (const Record& letter : batch_->dead_letters()) SLUICE_CHECK(batch.add(letter.view()));
  start_append(dead_letters_->partitions.front().ref, std::move(batch));
  SLUICE_CHECK(await_appends());
  log_.warn("{} records could not be stored and became dead letters", batch_->dead_letters().size());
  return {};
}

void SourceWorker::start_append(client::PartitionRef to, client::AppendBatch batch) {
  ++under_way_;
  context_.client->append(to, std::move(batch), [this, inbox = inbox_](Result<client::AppendResult> result) mutable {
    inbox->post([this, result = std::move(result)] {
      --under_way_;
      if (!result && !append_error_) append_error_ = result.error();
    });
  });
}

Result<void> SourceWorker::await_appends() {
  while (under_way_ > 0) {
    if (stopping() && now() >= end_by()) {
      uncertain_ = true;
      return fail(sluice::Errc::kTimeout, "the log did not answer before the end");
    }
    wait(stopping() ? end_by() : now() + kPollWaitMax);
  }
  if (!append_error_) return {};
  Error error = *std::move(append_error_);
  append_error_.reset();
  return fail(std::move(error));
}

}  // namespace sluice::pipeline
