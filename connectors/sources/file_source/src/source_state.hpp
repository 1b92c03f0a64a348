// SPDX-License-Identifier: Apache-2.0
// What the source remembers in the log: per file where it is. The format is in the connector's README.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "posix.hpp"

namespace sluice::file_source {

inline constexpr std::uint32_t kStateVersion = 1;

struct FilePosition {
  FileId id;
  std::uint64_t serial = 0;       // tells identities apart that had the same inode one after the other
  std::uint64_t offset = 0;       // everything before it is in the log
  std::uint64_t fingerprint = 0;  // Fingerprint::hash() at that offset

  friend bool operator==(const FilePosition&, const FilePosition&) = default;
};

struct SourceState {
  std::uint64_t next_serial = 1;
  std::vector<FilePosition> files;

  friend bool operator==(const SourceState&, const SourceState&) = default;
};

struct CorruptState : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] std::string encode_state(const SourceState& state);
// Throws CorruptState.
[[nodiscard]] SourceState decode_state(std::string_view bytes);

}  // namespace sluice::file_source
