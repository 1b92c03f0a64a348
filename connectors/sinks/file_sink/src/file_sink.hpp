// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include <sluice/binding.hpp>
#include <sluice/plugin.hpp>
#include <sluice/sink.hpp>

#include "output.hpp"

namespace sluice::file_sink {

enum class LineFormat : std::uint8_t { kNdjson, kRaw };

constexpr auto enum_names(LineFormat) {
  return std::to_array<EnumName<LineFormat>>({{"ndjson", LineFormat::kNdjson}, {"raw", LineFormat::kRaw}});
}

struct RotateConfig {
  Size size;
  Duration interval{0};

  static void bind(Binding<RotateConfig>& b);
};

struct FileSinkConfig {
  std::string path;
  LineFormat format = LineFormat::kNdjson;
  Duration flush_interval{0};
  Size flush_bytes;
  RotateConfig rotate;

  static void bind(Binding<FileSinkConfig>& b);
  void validate() const;
};

// Writes all its partitions into one file, in the order in which they come. Each flush makes file and positions safe together (see Output),
// and assign answers with those positions: a record is in the output exactly once, and no line is torn.
class FileSink final : public Sink {
 public:
  using Config = FileSinkConfig;
  static constexpr Descriptor kDescriptor{.id = "file_sink",
                                          .summary = "Records as lines of a file, each exactly once",
                                          .replay_idempotent = true,
                                          .ordered = true,
                                          .own_positions = true};

  FileSink(Config config, Context& context) : config_(std::move(config)), context_(context) {}

  void open() override;
  void assign(std::span<const Assignment> parts, std::span<std::uint64_t> resume_next) override;
  void write(const Batch& batch, WriteResult& result) override;
  void flush(FlushResult& result) override;
  void revoke(std::span<const Assignment> parts) override;
  void close() override;

 private:
  // Owns the texts of an assignment, because durable() may be told of it in a later call.
  struct Owned {
    std::string stream;
    std::string topic;
    sluice_assignment abi;
  };
  using PartitionKey = std::tuple<std::string, std::string, std::uint32_t>;

  [[nodiscard]] PartitionPosition& position_of(std::string_view stream, std::string_view topic, std::uint32_t partition);
  [[nodiscard]] std::uint64_t take_over(const Assignment& part);
  // False: the record cannot be a line.
  [[nodiscard]] bool encode(const Batch& batch, const Record& record, std::string& out) const;
  [[nodiscard]] bool flush_due();
  void flush_output();

  Config config_;
  Context& context_;
  std::optional<Output> output_;
  std::map<PartitionKey, Owned> owned_;
  std::uint64_t flushed_ns_ = 0;
};

}  // namespace sluice::file_sink
