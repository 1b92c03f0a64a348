// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/bytes.hpp"

namespace sluice::sim {

inline constexpr std::size_t kSectorBytes = 512;  // a device writes one as a whole or not at all
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kSectorsPerPage = kPageBytes / kSectorBytes;

using Page = std::array<std::byte, kPageBytes>;
using PagePtr = std::shared_ptr<Page>;  // null reads as zeros; never written to while it is shared
using SectorMask = std::uint8_t;        // bit i: sector i of a page
static_assert(kSectorsPerPage == 8);

// A sequence of bytes in pages. Copies share their pages until one of them writes, so that a copy costs a pointer a page; what was never
// written reads as zeros and takes no memory. Single-threaded, also across copies.
class PagedBytes {
 public:
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Cuts, or extends with zeros.
  void resize(std::uint64_t size);
  // The count is less than `out` has only at the end.
  [[nodiscard]] std::size_t read(std::uint64_t position, MutableBytes out) const;
  // Extends if need be.
  void write(std::uint64_t position, Bytes bytes);

  [[nodiscard]] PagePtr page(std::uint64_t index) const { return index < pages_.size() ? pages_[index] : nullptr; }
  // Takes some sectors of a page over from an image of it. Within the size.
  void put_sectors(std::uint64_t index, const PagePtr& image, SectorMask sectors);
  [[nodiscard]] std::uint64_t allocated_pages() const;
  [[nodiscard]] ByteVector to_vector() const;

 private:
  Page& writable(std::uint64_t index);

  std::uint64_t size_ = 0;
  std::vector<PagePtr> pages_;  // as many as the size needs; zeros beyond the size
};

}  // namespace sluice::sim
