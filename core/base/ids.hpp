// SPDX-License-Identifier: Apache-2.0
// The ids and positions of the streaming core. docs/ARCHITECTURE.md has the glossary.
#pragma once

#include <cstdint>

#include "core/base/strong_type.hpp"
#include "core/base/u128.hpp"

namespace sluice {

using Offset = StrongInt<struct OffsetTag, std::uint64_t>;                  // position of a message in its partition, from 0
using Op = StrongInt<struct OpTag, std::uint64_t>;                          // position of an entry in its group's log, from 1
using View = StrongInt<struct ViewTag, std::uint32_t>;                      // Viewstamped Replication view number
using GroupId = StrongInt<struct GroupIdTag, std::uint64_t>;                // 0 = the metadata group, else a partition's group
using Incarnation = StrongInt<struct IncarnationTag, std::uint64_t>;        // metadata op of the create; never reused
using PartitionIndex = StrongInt<struct PartitionIndexTag, std::uint32_t>;  // partition number inside its topic, from 0
using Epoch = StrongInt<struct EpochTag, std::uint64_t>;                    // assignment epoch of a consumer or source
using RequestNumber = StrongInt<struct RequestNumberTag, std::uint64_t>;    // dense per (client, group), from 1
using TimestampUs = StrongInt<struct TimestampUsTag, std::int64_t>;         // microseconds since 1970-01-01T00:00:00Z

using ClientId = U128;

inline constexpr GroupId kMetadataGroup{0};

}  // namespace sluice
