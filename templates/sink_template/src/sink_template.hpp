// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sluice/plugin.hpp>
#include <sluice/sink.hpp>

#include "back_end.hpp"
#include "settings.hpp"

namespace sink_template {

// Pushes each batch in chunks of max_records, in order. A record is delivered when the push it was in has returned; the first failure ends
// the attempt, and the host goes on behind what was delivered.
class SinkTemplate : public sluice::Sink {
 public:
  using Config = Settings;
  static constexpr sluice::Descriptor kDescriptor{.id = "sink_template", .summary = "Records to a back end that is still to be written"};

  SinkTemplate(Config config, sluice::Context& context);

  void open() override;
  void write(const sluice::Batch& batch, sluice::WriteResult& result) override;

 protected:
  // For tests: another back end than the real one.
  void use(std::unique_ptr<BackEnd> back_end) { back_end_ = std::move(back_end); }

 private:
  // Records first … first + count of the batch, which records_ holds.
  void deliver(const sluice::Batch& batch, std::uint32_t first, std::uint32_t count, sluice::WriteResult& result);

  Settings settings_;
  sluice::Context& context_;
  sluice::Counter delivered_;
  std::unique_ptr<BackEnd> back_end_;
  std::vector<sluice::Record> records_;  // views, valid during one write
};

}  // namespace sink_template
