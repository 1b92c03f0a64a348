// SPDX-License-Identifier: Apache-2.0
#include "file_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include <sluice/utf8.hpp>

namespace sluice::file_source {
namespace {

// Also without a sign from inotify.
constexpr std::uint64_t kLookIntervalNs = 1'000'000'000;
constexpr std::string_view kPathHeader = "file.path";
constexpr std::string_view kFullLengthHeader = "file.line_bytes";

// What FileSet throws, as the host understands it: no record is to blame, it tries again.
template <typename F>
auto with_file_errors(F&& work) {
  try {
    return work();
  } catch (const LineTooLong& e) {
    throw ConnectorError("file.line_too_long", e.what(), {.hint = "raise max_line_bytes, or set long_line to \"cut\" or \"skip\""});
  } catch (const TooManyFiles& e) {
    throw ConnectorError("file.too_many_files", e.what(), {.hint = "raise max_files, or make paths and exclude narrower"});
  } catch (const std::system_error& e) {
    throw ConnectorError("file.io", e.what());
  }
}

}  // namespace

void FileSourceConfig::bind(Binding<FileSourceConfig>& b) {
  b.required("paths", &FileSourceConfig::paths, {.min = 1, .max = 256},
             "Absolute paths of the files to read; *, ? and [...] match within one directory level.");
  b.optional("exclude", &FileSourceConfig::exclude, {"*.gz", "*.xz", "*.zst", "*.bz2"}, {.min = 0, .max = 256},
             "Patterns of file names that are left out.");
  b.optional("max_line_bytes", &FileSourceConfig::max_line_bytes, 1 * kMiB, {Size{1}, 64 * kMiB}, "Longest line that is delivered whole.");
  b.optional("long_line", &FileSourceConfig::long_line, LongLine::kCut, "What happens to a longer line: cut, skip or stop.");
  b.optional("rotated_wait", &FileSourceConfig::rotated_wait, std::chrono::seconds(30), {Duration(0), std::chrono::hours(24)},
             "How long a renamed or deleted file must be quiet at its end before it is let go.");
  b.optional("max_files", &FileSourceConfig::max_files, 512, {1, 16'384}, "Files held open at a time.");
}

void FileSourceConfig::validate() const {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].starts_with('/')) {
      throw ConfigError(fmt::format("/paths/{}", i), fmt::format("\"{}\" is not an absolute path", paths[i]),
                        "begin it with /: the daemon's working directory is not a place to count on");
    }
  }
}

FileSource::FileSource(Config config, Context& context)
    : config_(std::move(config)),
      context_(context),
      on_cancel_(context.stop(), [this] { watch_.interrupt(); }),
      open_files_(context.gauge("open_files", "Files that are followed")),
      problems_(context.gauge("file_problems", "Files and directories that cannot be read")),
      cut_lines_(context.counter("cut_lines_total", "Lines delivered in part because they are longer than max_line_bytes")),
      skipped_lines_(context.counter("skipped_lines_total", "Lines passed over because they are longer than max_line_bytes")) {}

void FileSource::open(std::optional<std::string_view> state) {
  SourceState positions;
  if (state) {
    try {
      positions = decode_state(*state);
    } catch (const CorruptState& e) {
      throw FatalError("file.corrupt_state", e.what(),
                       {.hint = "see the stored state with `sluice state show`; without it every file is read from its beginning"});
    }
  }
  FileSetOptions options{.paths = config_.paths,
                         .exclude = config_.exclude,
                         .max_line_bytes = static_cast<std::size_t>(config_.max_line_bytes.bytes),
                         .long_line = config_.long_line,
                         .rotated_wait_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(config_.rotated_wait).count()),
                         .max_files = config_.max_files};
  files_.emplace(std::move(options), std::move(positions), [this](std::string_view message, bool is_problem) {
    context_.log(is_problem ? LogLevel::kWarn : LogLevel::kInfo, message);
  });
  with_file_errors([&] { look_for_files(); });
}

void FileSource::look_for_files() {
  next_look_ns_ = context_.monotonic_ns() + kLookIntervalNs;
  files_->rescan(context_.monotonic_ns());
  std::set<std::string> refused = watch_.watch(files_->directories());
  for (const std::string& problem : refused) {
    if (!watch_problems_.contains(problem)) context_.log(LogLevel::kWarn, problem);
  }
  watch_problems_ = std::move(refused);
  open_files_.set(static_cast<double>(files_->open_files()));
  problems_.set(static_cast<double>(files_->problems() + watch_problems_.size()));
}

bool FileSource::hand_out(const TrackedFile& file, const Line& line, SourceWriter& writer) {
  const bool cut = line.full_bytes > line.text.size();
  const std::string full_length = cut ? std::to_string(line.full_bytes) : std::string();
  const std::string key = file.key();
  const std::array<Header, 2> headers{Header(kPathHeader, file.path()), Header(kFullLengthHeader, full_length)};
  const AppendResult result = writer.append({.key = key,
                                             .payload = line.text,
                                             .headers = std::span(headers).first(cut ? 2 : 1),
                                             .format = is_utf8(line.text) ? Format::kText : Format::kRaw});
  if (cut && result == AppendResult::kOk) cut_lines_.add();
  return result != AppendResult::kFull;
}

bool FileSource::poll_once(const PollRequest& request, SourceWriter& writer) {
  const std::uint64_t now_ns = context_.monotonic_ns();
  if (watch_.take_events() || now_ns >= next_look_ns_) look_for_files();
  const Next next = files_->read_next(request.max_records, request.max_bytes, now_ns,
                                      [&](const TrackedFile& file, const Line& line) { return hand_out(file, line, writer); });
  skipped_lines_.add(files_->skipped_lines() - skipped_reported_);
  skipped_reported_ = files_->skipped_lines();
  if (next == Next::kLines) {
    writer.set_state(encode_state(files_->state()));
    // All lines may have been passed over: without a record no result will come.
    if (writer.handed_out() == 0) files_->commit();
    return true;
  }
  if (now_ns >= request.wait_until_ns) return true;
  if (next == Next::kIdle) watch_.wait(std::min(request.wait_until_ns, next_look_ns_) - now_ns);
  return false;
}

void FileSource::poll(const PollRequest& request, SourceWriter& writer) {
  try {
    with_file_errors([&] {
      bool done = false;
      while (!done) {
        context_.throw_if_cancelled();
        done = poll_once(request, writer);
      }
    });
  } catch (...) {
    // The host drops what this poll appended.
    files_->rollback();
    throw;
  }
}

void FileSource::on_result(std::uint64_t /*batch_id*/, BatchResult result) {
  if (result == BatchResult::kAcked) {
    files_->commit();
  } else {
    files_->rollback();
  }
}

}  // namespace sluice::file_source
