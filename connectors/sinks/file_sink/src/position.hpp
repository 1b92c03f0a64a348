// SPDX-License-Identifier: Apache-2.0
// The position file beside the output: what of it is whole and safe. The format is in the connector's README.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::file_sink {

struct PartitionPosition {
  std::string stream;
  std::string topic;
  std::uint32_t partition = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t next = 0;  // first offset that is not in the output

  friend bool operator==(const PartitionPosition&, const PartitionPosition&) = default;
};

struct Position {
  std::string cluster;               // 32 hex digits
  std::uint64_t sequence = 1;        // number that the active file will have when it is rotated away
  std::uint64_t length = 0;          // of the active file; what lies beyond is not counted
  std::int64_t begun_us = 0;         // when the active file got its first record; 0 = it is empty
  std::uint64_t rotating_inode = 0;  // the file that is to become number sequence − 1, if it still has the active name; 0 = none
  std::vector<PartitionPosition> partitions;

  friend bool operator==(const Position&, const Position&) = default;
};

struct CorruptPosition : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] std::string encode_position(const Position& position);
// Throws CorruptPosition.
[[nodiscard]] Position decode_position(std::string_view text);

}  // namespace sluice::file_sink
