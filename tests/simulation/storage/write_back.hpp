// SPDX-License-Identifier: Apache-2.0
// What a device may hold of changes to a file that no sync has covered.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/base/random.hpp"
#include "tests/simulation/storage/paged_bytes.hpp"

namespace sluice::sim {

// How much of what was not synced survives.
enum class PowerLoss : std::uint8_t {
  kNothing,     // only what was synced
  kEverything,  // all of it
  kRandom,      // a mix, as the seed has it
};

// A write or truncation that is not synced.
struct UnsyncedChange {
  struct DirtyPage {
    std::uint64_t index = 0;
    PagePtr image;           // the page after the change
    SectorMask sectors = 0;  // which of them the change wrote
  };

  std::uint64_t size = 0;        // of the file after it
  bool cuts = false;             // it made the file shorter
  std::vector<DirtyPage> pages;  // by index
};

// Which changes reached the device. Sectors are written back on their own and in any order: each is what it was, or what any one of the
// changes made of it. Truncations happen in their order, each as a whole. A size that was reached does not mean that the bytes below it
// were: those read as zeros.
struct Reached {
  std::map<std::uint64_t, std::size_t> versions;  // sector → the how many-th write of it (from 1) is there; absent: none
  std::size_t cuts = 0;                           // so many truncations, the first ones
  std::uint64_t size = 0;
};
[[nodiscard]] Reached reached_everything(std::span<const UnsyncedChange> changes, std::uint64_t stable_size);
// Extremes, in-order prefixes, all but one sector, one sector alone, and mixes are all likely.
[[nodiscard]] Reached reached_at_random(std::span<const UnsyncedChange> changes, std::uint64_t stable_size, SeededRandom& random);

// The file on the device afterwards. Where a truncation did not happen, what was written behind it went to blocks that the file never got.
[[nodiscard]] PagedBytes write_back(PagedBytes stable, std::span<const UnsyncedChange> changes, const Reached& reached);

}  // namespace sluice::sim
