// SPDX-License-Identifier: Apache-2.0
#include "file_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace sluice::file_source {
namespace {

// Remembered positions of files that are not there; the newest stay.
constexpr std::size_t kMaxGone = 32;
// The same for files whose file system is not there: it may be mounted later.
constexpr std::size_t kMaxGoneElsewhere = 1024;

bool in_same_directory(const std::string& a, const std::string& b) {
  return std::string_view(a).substr(0, a.rfind('/')) == std::string_view(b).substr(0, b.rfind('/'));
}

void keep_newest(std::vector<FilePosition>& positions, std::size_t count, const std::function<bool(const FilePosition&)>& concerns) {
  std::sort(positions.begin(), positions.end(), [](const auto& a, const auto& b) { return a.serial > b.serial; });
  std::size_t kept = 0;
  std::erase_if(positions, [&](const FilePosition& position) { return concerns(position) && ++kept > count; });
}

}  // namespace

FileSet::FileSet(FileSetOptions options, SourceState state, Log log)
    : options_(std::move(options)),
      patterns_(options_.paths, options_.exclude),
      log_(std::move(log)),
      gone_(std::move(state.files)),
      next_serial_(state.next_serial) {}

FileSet::Member* FileSet::find(const FileId& id) {
  const auto it = std::find_if(files_.begin(), files_.end(), [&](const Member& m) { return m.file->id() == id; });
  return it == files_.end() ? nullptr : &*it;
}

void FileSet::rescan(std::uint64_t now_ns) {
  const Listing listing = patterns_.list();
  std::set<std::string> problems;
  for (const auto& [path, why] : listing.problems) problems.insert(why);
  update_names(listing);
  // Before the new files: they wait for those that had their names.
  if (!gone_.empty() && (!scanned_ || listing.directories != directories_)) add_renamed(listing, problems);
  add_new(listing, problems);
  let_go_of_finished(now_ns);
  forget_gone(listing);
  report_problems(std::move(problems));
  directories_ = listing.directories;
  scanned_ = true;
}

void FileSet::update_names(const Listing& listing) {
  for (Member& member : files_) {
    const auto found = listing.files.find(member.file->id());
    if (found == listing.files.end()) {
      if (member.renamed_away || !listing.proves_absence_of(member.file->path())) continue;
      member.renamed_away = true;
    } else if (found->second == member.file->path()) {
      member.renamed_away = false;
      continue;
    }
    member.left_path = member.file->path();
    member.read_to_end = false;
    if (found != listing.files.end()) {
      member.renamed_away = false;
      member.file->set_path(found->second);
    }
  }
}

void FileSet::add_renamed(const Listing& listing, std::set<std::string>& problems) {
  std::set<FileId> wanted;
  for (const FilePosition& position : gone_) {
    if (!listing.files.contains(position.id)) wanted.insert(position.id);
  }
  for (const auto& [id, path] : PathPatterns::find_renamed(listing.directories, wanted)) {
    if (find(id) != nullptr) continue;
    Member* member = add(id, path, listing, problems);
    if (member == nullptr) continue;
    member->renamed_away = true;
    // Another file has taken over the inode: no pattern asks for it.
    if (member->file->position().offset == 0) files_.pop_back();
  }
}

void FileSet::add_new(const Listing& listing, std::set<std::string>& problems) {
  std::vector<FileId> added;
  for (const auto& [id, path] : listing.files) {
    if (find(id) != nullptr) continue;
    if (Member* member = add(id, path, listing, problems)) added.push_back(member->file->id());
  }
  for (const FileId& id : added) {
    Member& fresh = *find(id);
    if (fresh.file->position().offset > 0) continue;
    for (const Member& other : files_) {
      // After a start nobody knows which file had which name: those that were begun go first.
      const bool begun_before_start =
          !scanned_ && other.file->position().offset > 0 && in_same_directory(other.file->path(), fresh.file->path());
      if (other.left_path == fresh.file->path() || begun_before_start) fresh.after.push_back(other.file->serial());
    }
  }
}

FileSet::Member* FileSet::add(const FileId& id, const std::string& path, const Listing& listing, std::set<std::string>& problems) {
  if (files_.size() >= options_.max_files) {
    throw TooManyFiles(fmt::format("more than {} files are to be read (max_files), the next one is {}", options_.max_files, path));
  }
  try {
    FileHandle descriptor = open_for_reading(path);
    // Between listing and opening the name may have gone to another file; the next rescan sees that one.
    if (status_of(descriptor, path).id != id) return nullptr;
    auto file = std::make_unique<TrackedFile>(std::move(descriptor), path, id, next_serial_);
    if (!restore(*file, listing)) ++next_serial_;
    files_.push_back({.file = std::move(file), .left_path = {}, .after = {}});
    return &files_.back();
  } catch (const std::system_error& e) {
    if (e.code().value() != ENOENT) problems.insert(e.what());
    return nullptr;
  }
}

bool FileSet::restore(TrackedFile& file, const Listing& listing) {
  const FileId id = file.id();
  const auto fits = [&](const FilePosition& position) {
    // Device numbers may change when a file system is mounted again; then the inode and the content must do.
    return position.id == id || (position.id.inode == id.inode && !listing.devices.contains(position.id.device));
  };
  for (auto it = std::find_if(gone_.begin(), gone_.end(), fits); it != gone_.end(); it = std::find_if(it, gone_.end(), fits)) {
    const FilePosition position = *it;
    if (position.offset > 0 && file.restore(position)) {
      gone_.erase(it);
      return true;
    }
    if (position.id != id) {
      ++it;
      continue;
    }
    it = gone_.erase(it);
    log_(fmt::format("{} is not the file that was read up to byte {}: it was cut or replaced, reading it from its beginning", file.path(),
                     position.offset),
         false);
  }
  return false;
}

bool FileSet::is_finished(const Member& member, std::uint64_t now_ns) const {
  if (!member.renamed_away) return false;
  const std::optional<std::uint64_t> quiet_since_ns = member.file->quiet_since_ns();
  return quiet_since_ns && now_ns - *quiet_since_ns >= options_.rotated_wait_ns;
}

void FileSet::let_go_of_finished(std::uint64_t now_ns) {
  std::erase_if(files_, [&](Member& member) {
    if (!is_finished(member, now_ns) || member.file->has_unfinished_line()) return false;
    if (member.file->position().offset > 0) gone_.push_back(member.file->position());
    log_(fmt::format("{} was read to its end and has no matching name any more: closed", member.file->path()), false);
    return true;
  });
}

void FileSet::forget_gone(const Listing& listing) {
  if (!listing.problems.empty()) return;
  const auto is_here = [&](const FilePosition& position) { return listing.devices.contains(position.id.device); };
  keep_newest(gone_, kMaxGone, is_here);
  keep_newest(gone_, kMaxGoneElsewhere, [&](const FilePosition& position) { return !is_here(position); });
}

void FileSet::report_problems(std::set<std::string> problems) {
  for (const std::string& problem : problems) {
    if (!problems_.contains(problem)) log_(problem, true);
  }
  problems_ = std::move(problems);
}

bool FileSet::must_wait(Member& member) const {
  std::erase_if(member.after, [&](std::uint64_t serial) {
    return std::none_of(files_.begin(), files_.end(),
                        [&](const Member& m) { return m.file->serial() == serial && !m.read_to_end && m.file->changed(); });
  });
  return !member.after.empty();
}

Next FileSet::read_next(std::uint32_t max_records, std::uint64_t max_bytes, std::uint64_t now_ns, const Taker& take) {
  ReadLimits limits{
      .max_records = max_records, .max_bytes = max_bytes, .max_line_bytes = options_.max_line_bytes, .long_line = options_.long_line};
  bool more = false;
  bool waits = false;
  bool ended = false;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::size_t index = (turn_ + i) % files_.size();
    Member& member = files_[index];
    if (must_wait(member)) {
      waits = true;
      continue;
    }
    TrackedFile& file = *member.file;
    limits.end_is_line_end = is_finished(member, now_ns) && file.has_unfinished_line();
    if (!limits.end_is_line_end && !file.changed()) continue;
    const std::uint64_t skipped_before = file.skipped_lines();
    switch (file.read(limits, now_ns, [&](const Line& line) { return take(file, line); })) {
      case ReadResult::kLines:
        staged_ = &file;
        turn_ = index + 1;
        return Next::kLines;
      case ReadResult::kNothing:
        // Not if the taker was full.
        member.read_to_end = member.read_to_end || !file.changed();
        ended = ended || member.read_to_end;
        break;
      case ReadResult::kReplaced:
        log_(fmt::format("{} was cut or written anew after byte {}: reading it from its beginning", file.path(), file.position().offset),
             false);
        file.start_over(next_serial_++);
        more = true;
        break;
      case ReadResult::kMore:
        more = true;
        break;
    }
    skipped_lines_ += file.skipped_lines() - skipped_before;
  }
  return more || (waits && ended) ? Next::kMore : Next::kIdle;
}

void FileSet::commit() {
  if (staged_ != nullptr) staged_->commit();
  staged_ = nullptr;
}

void FileSet::rollback() {
  if (staged_ != nullptr) staged_->rollback();
  staged_ = nullptr;
}

SourceState FileSet::state() const {
  SourceState state{.next_serial = next_serial_, .files = gone_};
  for (const Member& member : files_) {
    const FilePosition position = member.file->position();
    if (position.offset > 0) state.files.push_back(position);
  }
  return state;
}

}  // namespace sluice::file_source
