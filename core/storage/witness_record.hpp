// SPDX-License-Identifier: Apache-2.0
// The bytes of a witness file: docs/reference/data-directory.md, "The witness".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/u128.hpp"

namespace sluice::storage {

inline constexpr std::uint32_t kWitnessVersion = 1;
inline constexpr std::size_t kWitnessHeaderBytes = 4096;  // the slots begin here
inline constexpr std::size_t kWitnessSlotBytes = 64;
inline constexpr std::size_t kWitnessCellBytes = 2 * kWitnessSlotBytes;  // of one group
inline constexpr std::size_t kWitnessGroupsMax = 16384;
inline constexpr std::size_t kWitnessFileBytes = kWitnessHeaderBytes + kWitnessGroupsMax * kWitnessCellBytes;

// Whose run wrote the file.
struct WitnessHeader {
  U128 cluster;
  U128 generation;  // random, made at each start of a node
  friend bool operator==(const WitnessHeader&, const WitnessHeader&) = default;
};

// The newest entry of a group that was acknowledged.
struct WitnessRecord {
  GroupId group;
  Incarnation incarnation;
  Op op;
  U128 id;
  Op commit;
  friend bool operator==(const WitnessRecord&, const WitnessRecord&) = default;
};

// One of the two slots of a group. They are written in turn, so that a torn one leaves the other.
struct WitnessSlot {
  std::uint64_t sequence = 0;  // from 1
  WitnessRecord record;
};

using WitnessSlotBytes = std::array<std::byte, kWitnessSlotBytes>;
[[nodiscard]] WitnessSlotBytes encode_witness_header(const WitnessHeader& header);
[[nodiscard]] WitnessSlotBytes encode_witness_slot(const WitnessSlot& slot);
[[nodiscard]] std::optional<WitnessHeader> decode_witness_header(Bytes bytes);
[[nodiscard]] std::optional<WitnessSlot> decode_witness_slot(Bytes bytes);

// The newest record of each group that verifies, in a file of that run; none if it is of another run, or its header does not verify.
[[nodiscard]] std::vector<WitnessRecord> decode_witness_file(Bytes file, const WitnessHeader& wanted);

}  // namespace sluice::storage
