// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/binding.hpp>
#include <sluice/plugin.hpp>
#include <sluice/source.hpp>

#include "directory_watch.hpp"
#include "file_set.hpp"

namespace sluice::file_source {

constexpr auto enum_names(LongLine) {
  return std::to_array<EnumName<LongLine>>({{"cut", LongLine::kCut}, {"skip", LongLine::kSkip}, {"stop", LongLine::kStop}});
}

struct FileSourceConfig {
  std::vector<std::string> paths;
  std::vector<std::string> exclude;
  Size max_line_bytes;
  LongLine long_line = LongLine::kCut;
  Duration rotated_wait{0};
  std::uint32_t max_files = 0;

  static void bind(Binding<FileSourceConfig>& b);
  void validate() const;
};

// Tails files into the log. One poll hands out lines of one file, under that file's key, with the position behind them as state: a batch
// lands in one partition, in one entry with its state, so that each line is in the log exactly once. FileSet knows the files; this class
// waits, names records and speaks to the host.
class FileSource final : public Source {
 public:
  using Config = FileSourceConfig;
  static constexpr Descriptor kDescriptor{.id = "file_source", .summary = "Lines of files that grow, through rotation, each exactly once"};

  FileSource(Config config, Context& context);

  void open(std::optional<std::string_view> state) override;
  void poll(const PollRequest& request, SourceWriter& writer) override;
  void on_result(std::uint64_t batch_id, BatchResult result) override;

 private:
  void look_for_files();
  [[nodiscard]] bool hand_out(const TrackedFile& file, const Line& line, SourceWriter& writer);
  [[nodiscard]] bool poll_once(const PollRequest& request, SourceWriter& writer);

  Config config_;
  Context& context_;
  DirectoryWatch watch_;
  std::stop_callback<std::function<void()>> on_cancel_;
  std::optional<FileSet> files_;
  std::uint64_t next_look_ns_ = 0;
  std::uint64_t skipped_reported_ = 0;
  std::set<std::string> watch_problems_;
  Gauge open_files_;
  Gauge problems_;
  Counter cut_lines_;
  Counter skipped_lines_;
};

}  // namespace sluice::file_source
