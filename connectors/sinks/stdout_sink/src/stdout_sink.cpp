// SPDX-License-Identifier: Apache-2.0
#include "stdout_sink.hpp"

#include <unistd.h>

#include <system_error>

#include <sluice/record_json.hpp>

namespace sluice::stdout_sink {

void StdoutSinkConfig::bind(Binding<StdoutSinkConfig>& b) {
  b.optional("format", &StdoutSinkConfig::format, LineFormat::kNdjson,
             "ndjson: the whole record as one JSON object; raw: the payload alone.");
}

StdoutSink::StdoutSink(Config config, Context& context) : config_(config), context_(context), out_(STDOUT_FILENO, context.stop()) {}

void StdoutSink::write_line(const std::string& line) {
  context_.throw_if_cancelled();
  try {
    if (line_is_torn_ && out_.write("\n") == 0) throw CancelledError();
    line_is_torn_ = true;
    if (out_.write(line) < line.size()) throw CancelledError();
    line_is_torn_ = false;
  } catch (const std::system_error& e) {
    throw ConnectorError("stdout.io", e.what(), {.hint = "see where the daemon's standard output goes"});
  }
}

void StdoutSink::write(const Batch& batch, WriteResult& result) {
  std::string line;
  for (std::uint32_t i = 0; i < batch.size(); ++i) {
    const Record record = batch[i];
    line.clear();
    if (config_.format == LineFormat::kNdjson) {
      append_record_json(batch, record, line);
    } else {
      line.append(record.payload_or_empty());
    }
    line.push_back('\n');
    write_line(line);
    result.deliver_until(i + 1);
  }
}

}  // namespace sluice::stdout_sink
