// SPDX-License-Identifier: Apache-2.0
// What a partition remembers of those who read it and those who write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"

namespace sluice::partition {

inline constexpr std::size_t kMemberNameMax = 64;  // of a consumer group or a source: a connector's key
inline constexpr std::size_t kWriterVersionMax = 64;
inline constexpr std::size_t kSourceStateBytesMax = 1U << 20;
inline constexpr std::size_t kConsumersMax = 1024;
inline constexpr std::size_t kSourcesMax = 64;

// Where the records of a partition went. Cumulative since `start_offset`; each commit carries all of it, and apply refuses a commit
// whose sum is not committed_next - start_offset. `sluice connector audit` recomputes it from the log.
struct Accounting {
  std::uint64_t delivered = 0;
  std::uint64_t filtered = 0;
  std::uint64_t skipped = 0;
  std::uint64_t dead_lettered = 0;
  std::uint64_t expired = 0;  // trimmed by retention before it was read
  std::uint64_t gap = 0;      // offsets covered by committed Gap entries

  [[nodiscard]] std::uint64_t sum() const { return delivered + filtered + skipped + dead_lettered + expired + gap; }
  friend bool operator==(const Accounting&, const Accounting&) = default;
};

// What a partition remembers of one consumer group (a sink connector's key).
struct GroupPosition {
  Epoch epoch{};            // of the newest assignment
  Offset start_offset{};    // where this accounting began
  Offset committed_next{};  // first offset not committed
  Accounting accounting{};
  friend bool operator==(const GroupPosition&, const GroupPosition&) = default;
};

// The state a source keeps in the log, in the same entry as the last records it stands for.
struct SourceState {
  std::string connector{};          // key, ≤ kMemberNameMax bytes
  std::uint32_t state_version = 0;  // of the opaque bytes
  std::string writer_version{};     // plugin version that wrote them, ≤ kWriterVersionMax bytes
  std::uint64_t sequence = 0;       // strictly increasing per connector; the highest one wins at start
  Accounting accounting{};          // of the source: `delivered` counts records appended
  std::uint64_t in = 0;             // records polled
  ByteVector bytes{};               // opaque, ≤ kSourceStateBytesMax
  friend bool operator==(const SourceState&, const SourceState&) = default;
};

// A source's tenure: every append that carries state names its epoch, and an older one is fenced.
struct SourcePosition {
  Epoch epoch{};
  std::optional<SourceState> state{};  // the newest in this partition
  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

}  // namespace sluice::partition
