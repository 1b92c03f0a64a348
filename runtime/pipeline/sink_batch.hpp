// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include <sluice/abi/record.h>

#include "runtime/pipeline/dead_letter.hpp"
#include "runtime/pipeline/lane.hpp"
#include "runtime/plugin/sink_instance.hpp"

namespace sluice::pipeline {

// Lays ABI records over a lane's batch: views only, in memory that is used again and again. Valid until the next fill(). Worker thread.
class SinkBatch {
 public:
  explicit SinkBatch(U128 cluster_id) : cluster_id_(cluster_id) {}

  // `origins`: of redriven records, by their offset in the dead letter topic.
  [[nodiscard]] const sluice_batch& fill(const plugin::Assignment& to, const LaneBatch& batch,
                                         const std::map<Offset, DeadLetterReason>& origins);

 private:
  void lay_headers(const LaneBatch& batch);
  void lay_origins(const LaneBatch& batch, const std::map<Offset, DeadLetterReason>& origins);

  U128 cluster_id_;
  sluice_batch batch_{};
  std::vector<sluice_record> records_;
  std::vector<sluice_header> headers_;
  std::vector<sluice_origin> origins_;
};

}  // namespace sluice::pipeline
