// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fingerprint.hpp"
#include "posix.hpp"
#include "source_state.hpp"

namespace sluice::file_source {

// What happens to a line longer than max_line_bytes.
enum class LongLine : std::uint8_t {
  kCut,   // its first max_line_bytes bytes are delivered, with its full length
  kSkip,  // it is passed over and counted
  kStop,  // reading fails at it, with LineTooLong
};

struct LineTooLong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Line {
  std::string_view text;         // without its line end; valid during the call
  std::uint64_t full_bytes = 0;  // above text.size(): the line was cut
};

// Takes the next line; false = full, the line was not taken and is offered again at the next read.
using LineTaker = std::function<bool(const Line&)>;

struct ReadLimits {
  std::uint32_t max_records = 1;
  std::uint64_t max_bytes = 1;  // at least one line is offered, however long
  std::size_t max_line_bytes = 1;
  LongLine long_line = LongLine::kCut;
  bool end_is_line_end = false;  // what follows the last newline is a line too: nobody will finish it
};

enum class ReadResult : std::uint8_t {
  kLines,     // lines were taken; they stay staged until commit or rollback
  kNothing,   // no complete line up to the end of the file
  kMore,      // no line yet, but the file goes on: read again
  kReplaced,  // the bytes before the offset are not those that were delivered, or are gone: the file was cut, this is another one
};

// One file, held open: it is drained also after it was renamed or deleted. Reads whole lines from the committed offset on; nothing moves
// until commit(). Bytes handed out are checked against the fingerprint after they were read, so a file that is cut meanwhile never yields a
// mixture. Owned by FileSet, used on the connector's worker only.
class TrackedFile {
 public:
  TrackedFile(FileHandle file, std::string path, FileId id, std::uint64_t serial);

  // Goes to a remembered position. False: the file's content is not what was delivered then; nothing changed.
  [[nodiscard]] bool restore(const FilePosition& position);
  // The file was cut or written anew: from its beginning, as another identity.
  void start_over(std::uint64_t serial);

  // The file changed since a read last found nothing.
  [[nodiscard]] bool changed() const;
  [[nodiscard]] ReadResult read(const ReadLimits& limits, std::uint64_t now_ns, const LineTaker& take);
  void commit();
  void rollback() { staged_.reset(); }

  // Nothing more was found at the end of the file, since when; nothing while there is something to read.
  [[nodiscard]] std::optional<std::uint64_t> quiet_since_ns() const;
  // Bytes without a line end are left at the end of the file. Meaningful while quiet.
  [[nodiscard]] bool has_unfinished_line() const { return exhausted_ && exhausted_->size > offset_; }

  [[nodiscard]] FileId id() const { return id_; }
  [[nodiscard]] std::uint64_t serial() const { return serial_; }
  [[nodiscard]] std::uint64_t skipped_lines() const { return skipped_lines_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  void set_path(std::string path) { path_ = std::move(path); }
  // With what is staged.
  [[nodiscard]] FilePosition position() const;
  // The key of its records: the identity, not the name.
  [[nodiscard]] std::string key() const;

 private:
  struct Point {
    std::uint64_t offset = 0;
    Fingerprint fingerprint;
  };
  enum class Scan : std::uint8_t { kFound, kEnd, kBudget, kReplaced };

  // Reads on behind `point` into `out` and proves that what precedes it is still what was delivered.
  [[nodiscard]] bool read_behind(const Point& point, std::size_t count, std::string& out) const;
  [[nodiscard]] bool head_is(const std::string& head) const;
  [[nodiscard]] ReadResult read_long_line(const ReadLimits& limits, const LineTaker& take);
  [[nodiscard]] Scan scan_to_line_end(std::uint64_t& line_end);
  [[nodiscard]] ReadResult take_long_line(const ReadLimits& limits, const LineTaker& take, std::uint64_t line_end);
  void exhausted_at(const FileStatus& status, std::uint64_t now_ns);

  FileHandle file_;
  std::string path_;  // last known
  FileId id_;
  std::uint64_t serial_;
  std::uint64_t offset_ = 0;
  Fingerprint fingerprint_;
  std::optional<Point> staged_;
  std::optional<Point> long_scan_;  // how far the end of an overlong line was searched
  std::optional<FileStatus> exhausted_;
  std::uint64_t exhausted_since_ns_ = 0;
  std::uint64_t skipped_lines_ = 0;
  mutable std::string buffer_;
};

}  // namespace sluice::file_source
