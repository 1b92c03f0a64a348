// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/random.hpp"
#include "tests/simulation/storage/paged_bytes.hpp"
#include "tests/simulation/storage/write_back.hpp"

namespace sluice::sim {

// Beyond it, the two oldest changes of a file count as one: fewer intermediate versions, the same old and new bytes.
inline constexpr std::size_t kUnsyncedChangesMax = 64;

// The bytes of one file twice: as everybody reads them, and as the device has them. Value type; a copy shares its pages.
class FileContents {
 public:
  [[nodiscard]] const PagedBytes& buffered() const { return buffered_; }
  [[nodiscard]] const PagedBytes& stable() const { return stable_; }
  [[nodiscard]] std::size_t unsynced_changes() const { return changes_.size(); }

  void write(std::uint64_t position, Bytes bytes);
  void truncate(std::uint64_t size);
  void sync();
  // Whatever did not reach the device now is never tried again: it can still be read, and no later sync covers it.
  void fail_sync(PowerLoss reached, SeededRandom& random);
  // How often that has happened: each descriptor of the file is told once of the times since it was opened.
  [[nodiscard]] std::uint64_t failed_syncs() const { return failed_syncs_; }
  void lose_power(PowerLoss reached, SeededRandom& random);
  // What the page cache may do at any time: bytes that count as clean are read from the device again.
  void evict_clean_pages() { buffered_ = written_back(); }

  // Damage: on the device and in what is read.
  void flip_bit(std::uint64_t position, unsigned bit);
  // Damage: on the device alone.
  void truncate_stable(std::uint64_t size) {
    stable_.resize(size);
    lost_ = true;
  }
  // The same bytes in another file, all of them stable.
  [[nodiscard]] FileContents settled_copy() const;

 private:
  void add(UnsyncedChange change);
  // The device after all that is still to be written.
  [[nodiscard]] PagedBytes written_back() const;

  PagedBytes buffered_;
  PagedBytes stable_;
  std::vector<UnsyncedChange> changes_;
  std::uint64_t failed_syncs_ = 0;
  bool lost_ = false;  // some buffered bytes are neither stable nor among the changes
};

}  // namespace sluice::sim
