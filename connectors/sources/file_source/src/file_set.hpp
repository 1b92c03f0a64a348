// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "path_patterns.hpp"
#include "source_state.hpp"
#include "tracked_file.hpp"

namespace sluice::file_source {

struct FileSetOptions {
  std::vector<std::string> paths;
  std::vector<std::string> exclude;
  std::size_t max_line_bytes = 1024 * 1024;
  LongLine long_line = LongLine::kCut;
  std::uint64_t rotated_wait_ns = 0;  // how long a file that lost its name must be quiet before it is let go
  std::size_t max_files = 1;          // held open at a time
};

struct TooManyFiles : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Next : std::uint8_t {
  kLines,  // lines of one file were taken; commit or rollback before the next call
  kMore,   // call again at once
  kIdle,   // nothing to read now
};

// All files of a source: which there are, in what order they are read, what is remembered of them.
//
// A file is its device and inode, whatever its name; it is followed through renames and deletion until it was read to its end and stayed
// quiet. A new file waits until the one that had its name before was read to its end once. Positions of files that are gone are kept for a
// while (kMaxGone), because a file that comes back, or is only renamed where no pattern looks, must not be read twice. Owned by the
// connector, used on its worker only.
class FileSet {
 public:
  // Called with what an operator should know; each problem once as long as it lasts.
  using Log = std::function<void(std::string_view message, bool is_problem)>;
  using Taker = std::function<bool(const TrackedFile& file, const Line& line)>;

  FileSet(FileSetOptions options, SourceState state, Log log);

  // Looks which files there are. Throws TooManyFiles.
  void rescan(std::uint64_t now_ns);
  // Throws LineTooLong, std::system_error.
  [[nodiscard]] Next read_next(std::uint32_t max_records, std::uint64_t max_bytes, std::uint64_t now_ns, const Taker& take);
  void commit();
  void rollback();

  // Of everything committed and staged.
  [[nodiscard]] SourceState state() const;
  // As the last rescan found them.
  [[nodiscard]] const std::set<std::string>& directories() const { return directories_; }
  [[nodiscard]] std::size_t open_files() const { return files_.size(); }
  [[nodiscard]] std::size_t problems() const { return problems_.size(); }
  [[nodiscard]] std::uint64_t skipped_lines() const { return skipped_lines_; }

 private:
  struct Member {
    std::unique_ptr<TrackedFile> file;
    std::string left_path;             // the name it lost
    bool renamed_away = false;         // no pattern matches it any more
    bool read_to_end = false;          // since it was found, or lost its name
    std::vector<std::uint64_t> after;  // serials of files to be read to their end before this one is begun
  };

  void update_names(const Listing& listing);
  void add_new(const Listing& listing, std::set<std::string>& problems);
  void add_renamed(const Listing& listing, std::set<std::string>& problems);
  // Opens and positions it; null if it is gone or cannot be read.
  Member* add(const FileId& id, const std::string& path, const Listing& listing, std::set<std::string>& problems);
  // Takes the remembered position that fits the file out of gone_.
  [[nodiscard]] bool restore(TrackedFile& file, const Listing& listing);
  void let_go_of_finished(std::uint64_t now_ns);
  void forget_gone(const Listing& listing);
  void report_problems(std::set<std::string> problems);
  [[nodiscard]] bool must_wait(Member& member) const;
  [[nodiscard]] bool is_finished(const Member& member, std::uint64_t now_ns) const;
  [[nodiscard]] Member* find(const FileId& id);

  FileSetOptions options_;
  PathPatterns patterns_;
  Log log_;
  std::vector<Member> files_;
  std::vector<FilePosition> gone_;
  std::uint64_t next_serial_;
  std::set<std::string> directories_;
  std::set<std::string> problems_;
  TrackedFile* staged_ = nullptr;
  std::size_t turn_ = 0;
  std::uint64_t skipped_lines_ = 0;
  bool scanned_ = false;
};

}  // namespace sluice::file_source
