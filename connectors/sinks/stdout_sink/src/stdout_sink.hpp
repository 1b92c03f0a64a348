// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <sluice/binding.hpp>
#include <sluice/plugin.hpp>
#include <sluice/sink.hpp>

#include "stream_writer.hpp"

namespace sluice::stdout_sink {

enum class LineFormat : std::uint8_t { kNdjson, kRaw };

constexpr auto enum_names(LineFormat) {
  return std::to_array<EnumName<LineFormat>>({{"ndjson", LineFormat::kNdjson}, {"raw", LineFormat::kRaw}});
}

struct StdoutSinkConfig {
  LineFormat format = LineFormat::kNdjson;

  static void bind(Binding<StdoutSinkConfig>& b);
};

// Shows records on the daemon's standard output. A record is delivered once its line is written; a line that was cut off by a stop or an
// error is written whole again, on a line of its own.
class StdoutSink final : public Sink {
 public:
  using Config = StdoutSinkConfig;
  static constexpr Descriptor kDescriptor{.id = "stdout_sink", .summary = "Records as lines on the standard output"};

  StdoutSink(Config config, Context& context);

  void write(const Batch& batch, WriteResult& result) override;

 private:
  void write_line(const std::string& line);

  Config config_;
  Context& context_;
  StreamWriter out_;
  bool line_is_torn_ = false;
};

}  // namespace sluice::stdout_sink
