// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/base/random.hpp"
#include "core/client/client.hpp"
#include "runtime/config/connector_config.hpp"
#include "runtime/pipeline/dead_letter.hpp"
#include "runtime/plugin/source_instance.hpp"

namespace sluice::pipeline {

// What one poll of a source handed out, encoded into one append per partition as it comes. Partition: explicit, else hash(key), else one
// partition for the whole poll, in turn. Worker thread.
class SourceBatch final : public plugin::RecordSink {
 public:
  struct Target {
    client::PartitionRef ref;
    Epoch epoch;
    client::AppendBatch batch;
    std::size_t size_bytes = 0;  // of the batch, or of the one before: the next is likely to be as large
  };
  struct Options {
    std::string connector;
    std::string plugin_version;
    U128 cluster_id;
    config::Disposition refused = config::Disposition::kDeadLetter;  // what becomes of records that cannot be stored
    std::uint64_t seed = 0;                                          // of record ids
  };

  explicit SourceBatch(Options options) : options_(std::move(options)), ids_(options_.seed) {}

  // Outputs in the order of the configuration, each with at least one partition.
  void add_output(const client::TopicName& topic, std::vector<Target> partitions);

  // Forgets everything of the last poll; keyless records go to the next partition.
  void begin();

  [[nodiscard]] plugin::AppendAnswer append(const RecordView& record, std::uint32_t output,
                                            std::optional<PartitionIndex> partition) override;
  [[nodiscard]] plugin::AppendAnswer refuse(const RecordView& record, std::uint32_t output, const plugin::Outcome& why) override;

  [[nodiscard]] std::uint64_t records() const { return records_; }  // to be appended
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  [[nodiscard]] const std::vector<Record>& dead_letters() const { return dead_letters_; }
  // A record that may not be passed over: the poll is not acknowledged, and the connector stops.
  [[nodiscard]] const std::optional<plugin::Outcome>& stop() const { return stop_; }
  // Targets that got records, in order of their first one.
  [[nodiscard]] const std::vector<Target*>& used() const { return used_; }
  // Where state goes that comes without records.
  [[nodiscard]] Target& resting() { return outputs_.front().partitions[outputs_.front().sticky]; }

 private:
  struct Output {
    client::TopicName topic;
    std::vector<Target> partitions;
    std::size_t sticky = 0;  // of keyless records
  };

  Options options_;
  SeededRandom ids_;
  std::vector<Output> outputs_;
  std::vector<Target*> used_;
  std::vector<Record> dead_letters_;
  std::uint64_t dead_letter_bytes_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t skipped_ = 0;
  std::optional<plugin::Outcome> stop_;
};

}  // namespace sluice::pipeline
