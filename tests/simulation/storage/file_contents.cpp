// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/file_contents.hpp"

#include <algorithm>

namespace sluice::sim {
namespace {

// The page images of the newer change hold what the older one wrote as well.
void merge_into_newer(const UnsyncedChange& older, UnsyncedChange& newer) {
  for (const UnsyncedChange::DirtyPage& page : older.pages) {
    const auto place = std::lower_bound(newer.pages.begin(), newer.pages.end(), page.index,
                                        [](const UnsyncedChange::DirtyPage& p, std::uint64_t index) { return p.index < index; });
    if (place != newer.pages.end() && place->index == page.index) {
      place->sectors |= page.sectors;
    } else {
      newer.pages.insert(place, page);
    }
  }
}

}  // namespace

void FileContents::write(std::uint64_t position, Bytes bytes) {
  if (bytes.empty()) return;
  buffered_.write(position, bytes);
  UnsyncedChange change{.size = buffered_.size(), .cuts = false, .pages = {}};
  const std::uint64_t last_sector = (position + bytes.size() - 1) / kSectorBytes;
  for (std::uint64_t sector = position / kSectorBytes; sector <= last_sector; ++sector) {
    const std::uint64_t index = sector / kSectorsPerPage;
    if (change.pages.empty() || change.pages.back().index != index) change.pages.push_back({index, buffered_.page(index), 0});
    change.pages.back().sectors |= static_cast<SectorMask>(1U << (sector % kSectorsPerPage));
  }
  add(std::move(change));
}

void FileContents::truncate(std::uint64_t size) {
  const std::uint64_t before = buffered_.size();
  if (size == before) return;
  buffered_.resize(size);
  add({.size = size, .cuts = size < before, .pages = {}});
}

void FileContents::add(UnsyncedChange change) {
  changes_.push_back(std::move(change));
  if (changes_.size() <= kUnsyncedChangesMax) return;
  if (!changes_[0].cuts && !changes_[1].cuts) {
    merge_into_newer(changes_[0], changes_[1]);
  } else {
    // Two that cannot be told as one: the older has been written back by now.
    const std::span<const UnsyncedChange> oldest(changes_.data(), 1);
    stable_ = write_back(std::move(stable_), oldest, reached_everything(oldest, 0));
  }
  changes_.erase(changes_.begin());
}

PagedBytes FileContents::written_back() const {
  return lost_ ? write_back(stable_, changes_, reached_everything(changes_, stable_.size())) : buffered_;
}

void FileContents::sync() {
  stable_ = written_back();
  changes_.clear();
}

void FileContents::fail_sync(PowerLoss reached, SeededRandom& random) {
  FileContents device = *this;
  device.lose_power(reached, random);
  stable_ = std::move(device.stable_);
  changes_.clear();
  lost_ = true;
  ++failed_syncs_;
  // The size is the file system's own business, and goes with the next sync that succeeds.
  if (stable_.size() != buffered_.size())
    changes_.push_back({.size = buffered_.size(), .cuts = buffered_.size() < stable_.size(), .pages = {}});
}

void FileContents::lose_power(PowerLoss reached, SeededRandom& random) {
  if (reached == PowerLoss::kEverything) stable_ = written_back();
  if (reached == PowerLoss::kRandom) stable_ = write_back(stable_, changes_, reached_at_random(changes_, stable_.size(), random));
  buffered_ = stable_;
  changes_.clear();
  lost_ = false;
}

void FileContents::flip_bit(std::uint64_t position, unsigned bit) {
  for (PagedBytes* const bytes : {&buffered_, &stable_}) {
    std::byte value{};
    if (bytes->read(position, MutableBytes(&value, 1)) == 0) continue;
    value ^= std::byte{1} << bit;
    bytes->write(position, Bytes(&value, 1));
  }
}

FileContents FileContents::settled_copy() const {
  FileContents out;
  out.buffered_ = out.stable_ = buffered_;
  return out;
}

}  // namespace sluice::sim
