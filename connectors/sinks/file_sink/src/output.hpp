// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "position.hpp"
#include "posix_file.hpp"

namespace sluice::file_sink {

struct OutputOptions {
  std::string path;
  std::uint64_t rotate_bytes = 0;       // 0 = never
  std::int64_t rotate_interval_us = 0;  // 0 = never
};

// What lies on the disk is not what the position file says, or is not ours; nothing was changed.
struct OutputMismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The output file and its position file.
//
// Bytes are taken into memory and reach the file in flush(), which writes them behind the durable length, syncs, and then replaces the
// position file {durable length, next offsets}. Whatever fails in between, the bytes stay in memory and the next flush writes them again at
// the same place: nothing accepted is lost in this process, and nothing beyond the recorded length counts for the next one, which cuts it
// off.
//
// Rotation: the position file first says "active file empty, inode X is to be renamed", then X is renamed, then the new file is made. A
// crash at any point is finished by the next start. Throws std::system_error, OutputMismatch. Owned by the sink, used on its worker only.
class Output {
 public:
  // Takes up what is there, or makes both files anew for that cluster.
  Output(OutputOptions options, const std::string& cluster);

  // Positions as they will be with the next flush; the caller changes the partitions in it.
  [[nodiscard]] Position& position() { return position_; }
  // Accepted and not durable yet; the caller appends whole lines.
  [[nodiscard]] std::string& pending() { return pending_; }

  void flush(std::int64_t now_us);

  [[nodiscard]] std::string rotated_path(std::uint64_t sequence) const;
  [[nodiscard]] std::string position_path() const { return options_.path + ".position"; }

 private:
  void load(const std::string& text, const std::string& cluster);
  void create(const std::string& cluster);
  void store() { replace_file(position_path(), encode_position(position_)); }
  [[nodiscard]] bool rotation_due(std::int64_t now_us) const;
  void begin_rotation();
  void finish_rotation();
  void open_active();

  OutputOptions options_;
  Position position_;
  Position stored_;
  FileHandle file_;
  std::string pending_;
};

}  // namespace sluice::file_sink
