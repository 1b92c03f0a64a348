// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::entry {

inline constexpr std::size_t kRecordBytesMax = 8u << 20;  // key + payload + encoded headers of one record
inline constexpr std::size_t kEntryBytesMax = 64u << 20;  // header + body of one entry
inline constexpr std::size_t kHeadersMax = 1024;          // per record
inline constexpr std::size_t kHeaderNameBytesMax = 1024;
inline constexpr std::size_t kStateSectionBytesMax = (1u << 20) + (4u << 10);  // source state and its envelope

inline constexpr std::size_t kEntryHeaderBytes = 192;
inline constexpr std::size_t kMessageHeaderBytes = 48;
inline constexpr std::size_t kEntryAlignment = 8;

}  // namespace sluice::entry
