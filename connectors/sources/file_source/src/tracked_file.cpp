// SPDX-License-Identifier: Apache-2.0
#include "tracked_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::file_source {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
// Of an overlong line, per read: between two reads the caller looks at its deadline.
constexpr std::uint64_t kScanBudgetBytes = 8 * 1024 * 1024;

std::string_view without_carriage_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

TrackedFile::TrackedFile(FileHandle file, std::string path, FileId id, std::uint64_t serial)
    : file_(std::move(file)), path_(std::move(path)), id_(id), serial_(serial) {}

bool TrackedFile::restore(const FilePosition& position) {
  const std::size_t edge = static_cast<std::size_t>(std::min<std::uint64_t>(position.offset, kFingerprintBytes));
  std::string head(edge, '\0');
  std::string tail(edge, '\0');
  if (read_at(file_, path_, head.data(), edge, 0) != edge) return false;
  if (read_at(file_, path_, tail.data(), edge, position.offset - edge) != edge) return false;
  Fingerprint fingerprint;
  fingerprint.extend(head);
  if (position.offset > edge) fingerprint.extend(tail);
  if (fingerprint.hash() != position.fingerprint) return false;
  offset_ = position.offset;
  serial_ = position.serial;
  fingerprint_ = std::move(fingerprint);
  return true;
}

void TrackedFile::start_over(std::uint64_t serial) {
  serial_ = serial;
  offset_ = 0;
  fingerprint_ = {};
  staged_.reset();
  long_scan_.reset();
  exhausted_.reset();
}

bool TrackedFile::changed() const {
  return !exhausted_ || status_of(file_, path_) != *exhausted_;
}

std::optional<std::uint64_t> TrackedFile::quiet_since_ns() const {
  if (changed()) return std::nullopt;
  return exhausted_since_ns_;
}

void TrackedFile::exhausted_at(const FileStatus& status, std::uint64_t now_ns) {
  if (exhausted_ != status) exhausted_since_ns_ = now_ns;
  exhausted_ = status;
}

bool TrackedFile::head_is(const std::string& head) const {
  std::string now(head.size(), '\0');
  return read_at(file_, path_, now.data(), now.size(), 0) == head.size() && now == head;
}

bool TrackedFile::read_behind(const Point& point, std::size_t count, std::string& out) const {
  const std::string& tail = point.fingerprint.tail();
  out.resize(tail.size() + count);
  const std::size_t got = read_at(file_, path_, out.data(), out.size(), point.offset - tail.size());
  if (got < tail.size() || std::string_view(out).substr(0, tail.size()) != tail) return false;
  out.resize(got);
  out.erase(0, tail.size());
  return head_is(point.fingerprint.head());
}

ReadResult TrackedFile::read(const ReadLimits& limits, std::uint64_t now_ns, const LineTaker& take) {
  // Before the read: a change that comes meanwhile must look like one afterwards.
  const FileStatus before = status_of(file_, path_);
  if (before.size < offset_) return ReadResult::kReplaced;
  if (long_scan_) {
    const ReadResult result = read_long_line(limits, take);
    if (result == ReadResult::kNothing) exhausted_at(before, now_ns);
    return result;
  }

  // One line of the longest allowed length, with its line end, always fits.
  const std::size_t longest = limits.max_line_bytes + 2;
  std::size_t wanted = kReadBytes;
  if (!read_behind({offset_, fingerprint_}, wanted, buffer_)) return ReadResult::kReplaced;
  while (buffer_.find('\n') == std::string::npos && buffer_.size() == wanted && wanted < longest) {
    wanted = std::min(wanted * 4, longest);
    if (!read_behind({offset_, fingerprint_}, wanted, buffer_)) return ReadResult::kReplaced;
  }
  const bool at_end = buffer_.size() < wanted;

  std::size_t position = 0;
  std::uint32_t records = 0;
  std::uint64_t bytes = 0;
  bool too_long = false;
  while (records < limits.max_records && (records == 0 || bytes < limits.max_bytes) && position < buffer_.size()) {
    std::size_t end = buffer_.find('\n', position);
    std::size_t next = end + 1;
    if (end == std::string::npos) {
      too_long = buffer_.size() - position > limits.max_line_bytes + 1;
      if (too_long || !at_end || !limits.end_is_line_end) break;
      end = next = buffer_.size();
    }
    const std::string_view line = without_carriage_return(std::string_view(buffer_).substr(position, end - position));
    too_long = line.size() > limits.max_line_bytes;
    if (too_long || !take({line, line.size()})) break;
    position = next;
    ++records;
    bytes += line.size();
  }
  if (records > 0) {
    staged_ = Point{offset_ + position, fingerprint_};
    staged_->fingerprint.extend(std::string_view(buffer_).substr(0, position));
    exhausted_.reset();
    return ReadResult::kLines;
  }
  if (too_long) {
    long_scan_ = Point{offset_, fingerprint_};
    return read_long_line(limits, take);
  }
  if (buffer_.find('\n') == std::string::npos) exhausted_at(before, now_ns);
  return ReadResult::kNothing;
}

ReadResult TrackedFile::read_long_line(const ReadLimits& limits, const LineTaker& take) {
  if (limits.long_line == LongLine::kStop) {
    throw LineTooLong(fmt::format("{}: the line at byte {} is longer than max_line_bytes ({})", path_, offset_, limits.max_line_bytes));
  }
  std::uint64_t line_end = 0;
  switch (scan_to_line_end(line_end)) {
    case Scan::kReplaced:
      return ReadResult::kReplaced;
    case Scan::kBudget:
      return ReadResult::kMore;
    case Scan::kEnd:
      if (!limits.end_is_line_end) return ReadResult::kNothing;
      break;
    case Scan::kFound:
      break;
  }
  return take_long_line(limits, take, line_end);
}

TrackedFile::Scan TrackedFile::scan_to_line_end(std::uint64_t& line_end) {
  for (std::uint64_t scanned = 0; scanned < kScanBudgetBytes;) {
    if (!read_behind(*long_scan_, kReadBytes, buffer_)) return Scan::kReplaced;
    const std::size_t newline = buffer_.find('\n');
    if (newline != std::string::npos) {
      line_end = long_scan_->offset + newline;
      // The point stays before the newline: it is found again if the taker is full.
      const std::string_view rest = std::string_view(buffer_).substr(0, newline);
      long_scan_->fingerprint.extend(rest);
      long_scan_->offset = line_end;
      return Scan::kFound;
    }
    long_scan_->fingerprint.extend(buffer_);
    long_scan_->offset += buffer_.size();
    line_end = long_scan_->offset;
    if (buffer_.size() < kReadBytes) return Scan::kEnd;
    scanned += buffer_.size();
  }
  return Scan::kBudget;
}

ReadResult TrackedFile::take_long_line(const ReadLimits& limits, const LineTaker& take, std::uint64_t line_end) {
  Point behind = *long_scan_;
  std::string newline;
  if (!read_behind(behind, 1, newline)) return ReadResult::kReplaced;
  std::uint64_t full_bytes = line_end - offset_;
  if (behind.fingerprint.tail().ends_with('\r')) --full_bytes;
  behind.fingerprint.extend(newline);
  behind.offset += newline.size();

  if (limits.long_line == LongLine::kCut) {
    std::string text;
    if (!read_behind({offset_, fingerprint_}, limits.max_line_bytes, text)) return ReadResult::kReplaced;
    if (!take({text, full_bytes})) return ReadResult::kNothing;
    staged_ = std::move(behind);
    exhausted_.reset();
    return ReadResult::kLines;
  }
  // Without a record there is no state to save: a restart passes over the line once more.
  ++skipped_lines_;
  staged_ = std::move(behind);
  commit();
  return ReadResult::kMore;
}

void TrackedFile::commit() {
  if (!staged_) return;
  offset_ = staged_->offset;
  fingerprint_ = std::move(staged_->fingerprint);
  staged_.reset();
  long_scan_.reset();
}

FilePosition TrackedFile::position() const {
  return {.id = id_,
          .serial = serial_,
          .offset = staged_ ? staged_->offset : offset_,
          .fingerprint = staged_ ? staged_->fingerprint.hash() : fingerprint_.hash()};
}

std::string TrackedFile::key() const {
  return fmt::format("{:x}-{:x}-{}", id_.device, id_.inode, serial_);
}

}  // namespace sluice::file_source
