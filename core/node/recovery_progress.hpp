// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace sluice::node {

// How far Node::open is. Written by it, to be read by anybody at any time.
struct RecoveryProgress {
  std::atomic<std::uint64_t> partitions = 0;         // of the catalog; 0 until that is open
  std::atomic<std::uint64_t> partitions_opened = 0;  // of them, or refused
  std::atomic<std::uint64_t> bytes = 0;              // of their logs that are to be judged; known before the first one is opened
  std::atomic<std::uint64_t> bytes_judged = 0;       // about
};

}  // namespace sluice::node
