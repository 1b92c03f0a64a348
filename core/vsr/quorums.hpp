// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/vsr/ids.hpp"

namespace sluice::vsr {

// How many replicas must agree, in a cluster of 1, 3 or 5.
class Quorums {
 public:
  [[nodiscard]] static constexpr std::optional<Quorums> of(std::size_t replica_count) {
    if (replica_count != 1 && replica_count != 3 && replica_count != kReplicasMax) return std::nullopt;
    return Quorums(static_cast<std::uint8_t>(replica_count));
  }

  [[nodiscard]] constexpr std::uint8_t count() const { return count_; }
  // That have an entry durable before it is committed, the primary among them.
  [[nodiscard]] constexpr std::uint8_t replication() const { return static_cast<std::uint8_t>(count_ / 2 + 1); }
  // That want a view change, and that report their logs to the new primary. Any of these shares a replica with any replication quorum.
  [[nodiscard]] constexpr std::uint8_t view_change() const { return static_cast<std::uint8_t>(count_ - replication() + 1); }
  // That never had an entry, so that the others are too few to have committed it.
  [[nodiscard]] constexpr std::uint8_t nack() const { return static_cast<std::uint8_t>(count_ - replication() + 1); }

  [[nodiscard]] constexpr ReplicaIndex primary(View view) const { return ReplicaIndex(static_cast<std::uint8_t>(view.value() % count_)); }

  friend bool operator==(Quorums, Quorums) = default;

 private:
  constexpr explicit Quorums(std::uint8_t count) : count_(count) {}

  std::uint8_t count_;
};

}  // namespace sluice::vsr
