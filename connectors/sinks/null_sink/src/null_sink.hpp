// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sluice/binding.hpp>
#include <sluice/plugin.hpp>
#include <sluice/sink.hpp>

namespace sluice::null_sink {

struct NullSinkConfig {
  static void bind(Binding<NullSinkConfig>& /*binding*/) {}
};

// Takes every record and keeps none: what a pipeline costs without its back end. Every record is delivered as soon as it is written.
class NullSink final : public Sink {
 public:
  using Config = NullSinkConfig;
  static constexpr Descriptor kDescriptor{.id = "null_sink", .summary = "Drops every record", .replay_idempotent = true, .ordered = true};

  NullSink(Config /*config*/, Context& /*context*/) {}

  void write(const Batch& /*batch*/, WriteResult& result) override { result.deliver_all(); }
};

}  // namespace sluice::null_sink
