// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <fmt/format.h>

namespace sluice::file_sink {
namespace {

constexpr std::size_t kPositionBytesMax = 64 * 1024 * 1024;

}  // namespace

Output::Output(OutputOptions options, const std::string& cluster) : options_(std::move(options)) {
  if (const std::optional<std::string> text = read_file(position_path(), kPositionBytesMax)) {
    load(*text, cluster);
  } else {
    create(cluster);
  }
  stored_ = position_;
}

void Output::create(const std::string& cluster) {
  const std::optional<FileStatus> found = status_of_path(options_.path);
  if (found && found->size > 0) {
    throw OutputMismatch(fmt::format("{} exists, but {} does not: it is not known what it holds", options_.path, position_path()));
  }
  // First: a file without a position is not ours.
  position_.cluster = cluster;
  store();
  open_active();
  sync_directory_of(options_.path);
}

void Output::load(const std::string& text, const std::string& cluster) {
  try {
    position_ = decode_position(text);
  } catch (const CorruptPosition& e) {
    throw OutputMismatch(fmt::format("{} cannot be used: {}", position_path(), e.what()));
  }
  if (position_.cluster != cluster) {
    throw OutputMismatch(
        fmt::format("{} belongs to cluster {}, the records come from cluster {}", position_path(), position_.cluster, cluster));
  }
  if (position_.rotating_inode != 0) finish_rotation();
  const std::optional<FileStatus> found = status_of_path(options_.path);
  const std::uint64_t size = found ? found->size : 0;
  if (size < position_.length) {
    throw OutputMismatch(fmt::format("{} has {} bytes, but {} says that {} bytes were delivered into it", options_.path, size,
                                     position_path(), position_.length));
  }
  if (!file_) open_active();
  if (size > position_.length) {
    truncate_to(file_, options_.path, position_.length);
    sync_file(file_, options_.path);
  }
  if (!found) sync_directory_of(options_.path);
}

void Output::open_active() {
  file_ = open_and_lock(options_.path);
}

void Output::flush(std::int64_t now_us) {
  if (position_.rotating_inode != 0) finish_rotation();
  if (!pending_.empty() || position_ != stored_) {
    Position next = position_;
    next.length += pending_.size();
    if (next.begun_us == 0 && !pending_.empty()) next.begun_us = now_us;
    // After a failed flush the same bytes, and perhaps more, go to the same place again.
    write_at(file_, options_.path, pending_, position_.length);
    sync_file(file_, options_.path);
    replace_file(position_path(), encode_position(next));
    pending_.clear();
    position_ = next;
    stored_ = std::move(next);
  }
  if (rotation_due(now_us)) {
    begin_rotation();
    finish_rotation();
  }
}

bool Output::rotation_due(std::int64_t now_us) const {
  if (position_.length == 0) return false;
  if (options_.rotate_bytes != 0 && position_.length >= options_.rotate_bytes) return true;
  return options_.rotate_interval_us != 0 && now_us - position_.begun_us >= options_.rotate_interval_us;
}

std::string Output::rotated_path(std::uint64_t sequence) const {
  return fmt::format("{}.{:06}", options_.path, sequence);
}

void Output::begin_rotation() {
  Position next = position_;
  // Someone may have put a file there.
  while (status_of_path(rotated_path(next.sequence))) ++next.sequence;
  ++next.sequence;
  next.length = 0;
  next.begun_us = 0;
  next.rotating_inode = status_of(file_, options_.path).inode;
  replace_file(position_path(), encode_position(next));
  position_ = next;
  stored_ = std::move(next);
}

void Output::finish_rotation() {
  const std::optional<FileStatus> found = status_of_path(options_.path);
  if (found && found->inode == position_.rotating_inode) {
    // At a start nobody else may be writing it.
    if (!file_) open_active();
    rename_to(options_.path, rotated_path(position_.sequence - 1));
    sync_directory_of(options_.path);
  }
  open_active();
  sync_directory_of(options_.path);
  // It is stored with the next flush: until then the inode under the active name says that the rename is done.
  position_.rotating_inode = 0;
}

}  // namespace sluice::file_sink
