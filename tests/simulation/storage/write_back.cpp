// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/write_back.hpp"

#include <algorithm>
#include <limits>

namespace sluice::sim {
namespace {

using SectorVersions = std::map<std::uint64_t, std::size_t>;

// The versions that the first `writes` writes of a sector, in their order, leave.
SectorVersions versions_after(std::span<const UnsyncedChange> changes, std::uint64_t writes) {
  SectorVersions out;
  for (const UnsyncedChange& change : changes) {
    for (const UnsyncedChange::DirtyPage& page : change.pages) {
      for (std::uint64_t i = 0; i < kSectorsPerPage; ++i) {
        if ((page.sectors & (1U << i)) == 0) continue;
        if (writes-- == 0) return out;
        ++out[page.index * kSectorsPerPage + i];
      }
    }
  }
  return out;
}
constexpr std::uint64_t kAllWrites = std::numeric_limits<std::uint64_t>::max();

std::size_t count_cuts(std::span<const UnsyncedChange> changes) {
  return static_cast<std::size_t>(std::count_if(changes.begin(), changes.end(), [](const UnsyncedChange& c) { return c.cuts; }));
}

// After so many truncations, and before the next one.
std::vector<std::uint64_t> possible_sizes(std::span<const UnsyncedChange> changes, std::uint64_t stable_size, std::size_t cuts) {
  std::vector<std::uint64_t> out{stable_size};
  for (const UnsyncedChange& change : changes) {
    if (change.cuts) {
      if (cuts-- == 0) break;
      out = {change.size};
    } else if (change.size > out.back()) {
      out.push_back(change.size);
    }
  }
  return out;
}

std::uint64_t pick_size(const std::vector<std::uint64_t>& sizes, SeededRandom& random) {
  switch (random.below(4)) {
    case 0:
      return sizes.front();
    case 1:
      return sizes[random.below(sizes.size())];
    default:
      return sizes.back();
  }
}

SectorVersions mix(const SectorVersions& newest, SeededRandom& random) {
  constexpr std::uint64_t kShares = 16;
  const std::uint64_t share = 1 + random.below(kShares - 1);
  SectorVersions out;
  for (const auto& [sector, count] : newest) {
    if (random.below(kShares) >= share) continue;
    out[sector] = random.below(2) == 0 ? count : 1 + random.below(count);
  }
  return out;
}

SectorVersions pick_versions(std::span<const UnsyncedChange> changes, SeededRandom& random) {
  const SectorVersions newest = versions_after(changes, kAllWrites);
  if (newest.empty()) return {};
  const auto one = std::next(newest.begin(), static_cast<std::ptrdiff_t>(random.below(newest.size())));
  switch (random.below(6)) {
    case 0:
      return {};
    case 1:
      return newest;
    case 2: {
      std::uint64_t writes = 0;
      for (const auto& [sector, count] : newest) writes += count;
      return versions_after(changes, random.below(writes + 1));
    }
    case 3: {
      SectorVersions out = newest;
      out[one->first] = random.below(one->second);
      return out;
    }
    case 4:
      return {{one->first, 1 + random.below(one->second)}};
    default:
      return mix(newest, random);
  }
}

}  // namespace

Reached reached_everything(std::span<const UnsyncedChange> changes, std::uint64_t stable_size) {
  return {.versions = versions_after(changes, kAllWrites),
          .cuts = count_cuts(changes),
          .size = changes.empty() ? stable_size : changes.back().size};
}

Reached reached_at_random(std::span<const UnsyncedChange> changes, std::uint64_t stable_size, SeededRandom& random) {
  Reached out;
  out.cuts = random.below(count_cuts(changes) + 1);
  out.size = pick_size(possible_sizes(changes, stable_size, out.cuts), random);
  out.versions = pick_versions(changes, random);
  return out;
}

PagedBytes write_back(PagedBytes stable, std::span<const UnsyncedChange> changes, const Reached& reached) {
  std::uint64_t extent = std::max(stable.size(), reached.size);
  for (const UnsyncedChange& change : changes) extent = std::max(extent, change.size);
  stable.resize(extent);
  SectorVersions seen;
  std::size_t cuts = 0;
  std::uint64_t foreign_from = std::numeric_limits<std::uint64_t>::max();
  for (const UnsyncedChange& change : changes) {
    if (change.cuts && cuts++ < reached.cuts) {
      stable.resize(change.size);
      stable.resize(extent);
    } else if (change.cuts) {
      foreign_from = std::min(foreign_from, change.size);
    }
    for (const UnsyncedChange::DirtyPage& page : change.pages) {
      SectorMask arrived = 0;
      for (std::uint64_t i = 0; i < kSectorsPerPage; ++i) {
        if ((page.sectors & (1U << i)) == 0) continue;
        const std::uint64_t sector = page.index * kSectorsPerPage + i;
        const auto version = reached.versions.find(sector);
        const bool wanted = version != reached.versions.end() && ++seen[sector] == version->second;
        if (wanted && sector * kSectorBytes < foreign_from) arrived |= static_cast<SectorMask>(1U << i);
      }
      stable.put_sectors(page.index, page.image, arrived);
    }
  }
  stable.resize(reached.size);
  return stable;
}

}  // namespace sluice::sim
