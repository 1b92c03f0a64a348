// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/source_batch.hpp"

#include "core/base/assert.hpp"
#include "core/base/checksum.hpp"
#include "core/base/clock.hpp"
#include "core/entry/limits.hpp"

namespace sluice::pipeline {

namespace {

// What an entry must still have room for when a record has been added: the state, which is never split from the records it stands for.
constexpr std::size_t kEntryRoom = entry::kEntryBytesMax - entry::kStateSectionBytesMax;

std::size_t stored_bytes(const RecordView& record) {
  return round_up(entry::kMessageHeaderBytes + record.headers.encoded().size() + (record.key ? record.key->size() : 0) +
                      (record.payload ? record.payload->size() : 0),
                  entry::kEntryAlignment);
}

}  // namespace

void SourceBatch::add_output(const client::TopicName& topic, std::vector<Target> partitions) {
  SLUICE_ASSERT(!partitions.empty(), "output {} without a partition", client::to_string(topic));
  outputs_.push_back({topic, std::move(partitions), 0});
}

void SourceBatch::begin() {
  for (Target* target : used_) target->batch = client::AppendBatch{};
  if (!used_.empty()) {
    for (Output& output : outputs_) output.sticky = (output.sticky + 1) % output.partitions.size();
  }
  used_.clear();
  dead_letters_.clear();
  dead_letter_bytes_ = 0;
  records_ = 0;
  skipped_ = 0;
  stop_.reset();
}

plugin::AppendAnswer SourceBatch::append(const RecordView& record, std::uint32_t output, std::optional<PartitionIndex> partition) {
  if (output >= outputs_.size()) return plugin::AppendAnswer::kInvalid;
  Output& to = outputs_[output];
  std::size_t index = to.sticky;
  if (partition) {
    index = partition->value();
    if (index >= to.partitions.size()) return plugin::AppendAnswer::kInvalid;
  } else if (record.key && to.partitions.size() > 1) {
    index = xxh3_64(*record.key) % to.partitions.size();
  }
  Target& target = to.partitions[index];
  const bool first = target.batch.count() == 0;
  if (!first && target.batch.size_bytes() + stored_bytes(record) > kEntryRoom) return plugin::AppendAnswer::kFull;
  if (first) target.batch.reserve(target.size_bytes);
  Result<void> added;
  if (record.id == U128{}) {
    RecordView named = record;
    named.id = ids_.next_u128();
    added = target.batch.add(named);
  } else {
    added = target.batch.add(record);
  }
  if (!added) {
    plugin::Outcome why;
    why.outcome_class = plugin::OutcomeClass::kPermanent;
    why.scope = plugin::Scope::kRecord;
    why.code = added.error().code();
    why.text = added.error().message();
    return refuse(record, output, why);
  }
  if (first) used_.push_back(&target);
  target.size_bytes = target.batch.size_bytes();
  ++records_;
  return plugin::AppendAnswer::kOk;
}

plugin::AppendAnswer SourceBatch::refuse(const RecordView& record, std::uint32_t output, const plugin::Outcome& why) {
  if (output >= outputs_.size()) return plugin::AppendAnswer::kInvalid;
  switch (options_.refused) {
    case config::Disposition::kSkip:
      ++skipped_;
      return plugin::AppendAnswer::kOk;
    case config::Disposition::kStop:
      if (!stop_) stop_ = why;
      return plugin::AppendAnswer::kFull;
    case config::Disposition::kDeadLetter:
      break;
  }
  if (!dead_letters_.empty() && dead_letter_bytes_ >= entry::kRecordBytesMax) return plugin::AppendAnswer::kFull;
  DeadLetterReason reason = make_reason(why);
  reason.connector = options_.connector;
  reason.plugin_version = options_.plugin_version;
  reason.failed_at = system_clock().wall();
  reason.from_sink = false;
  reason.source.cluster_id = options_.cluster_id;
  reason.source.topic = outputs_[output].topic;
  dead_letters_.push_back(encode_dead_letter(record, reason));
  const RecordView stored = dead_letters_.back().view();
  dead_letter_bytes_ += stored_bytes(stored);
  return plugin::AppendAnswer::kOk;
}

}  // namespace sluice::pipeline
