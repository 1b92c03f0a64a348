// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/paged_bytes.hpp"

#include <algorithm>

namespace sluice::sim {

Page& PagedBytes::writable(std::uint64_t index) {
  PagePtr& page = pages_.at(index);
  if (!page) {
    page = std::make_shared<Page>();
  } else if (page.use_count() > 1) {
    page = std::make_shared<Page>(*page);
  }
  return *page;
}

void PagedBytes::resize(std::uint64_t size) {
  pages_.resize((size + kPageBytes - 1) / kPageBytes);
  const std::size_t tail = size % kPageBytes;
  if (size < size_ && tail != 0 && pages_.back()) {
    Page& last = writable(pages_.size() - 1);
    std::fill(last.begin() + static_cast<std::ptrdiff_t>(tail), last.end(), std::byte{0});
  }
  size_ = size;
}

std::size_t PagedBytes::read(std::uint64_t position, MutableBytes out) const {
  if (position >= size_) return 0;
  const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - position));
  std::size_t done = 0;
  while (done < count) {
    const std::size_t within = (position + done) % kPageBytes;
    const std::size_t length = std::min(count - done, kPageBytes - within);
    const MutableBytes target = out.subspan(done, length);
    if (const PagePtr& page = pages_[(position + done) / kPageBytes]) {
      std::copy_n(page->begin() + static_cast<std::ptrdiff_t>(within), length, target.begin());
    } else {
      std::fill(target.begin(), target.end(), std::byte{0});
    }
    done += length;
  }
  return count;
}

void PagedBytes::write(std::uint64_t position, Bytes bytes) {
  if (bytes.empty()) return;
  if (position + bytes.size() > size_) resize(position + bytes.size());
  while (!bytes.empty()) {
    const std::size_t within = position % kPageBytes;
    const std::size_t length = std::min(bytes.size(), kPageBytes - within);
    std::copy_n(bytes.begin(), length, writable(position / kPageBytes).begin() + static_cast<std::ptrdiff_t>(within));
    position += length;
    bytes = bytes.subspan(length);
  }
}

void PagedBytes::put_sectors(std::uint64_t index, const PagePtr& image, SectorMask sectors) {
  if (sectors == 0) return;
  if (sectors == 0xFF) {
    pages_.at(index) = image;
    return;
  }
  Page& page = writable(index);
  for (std::size_t i = 0; i < kSectorsPerPage; ++i) {
    if ((sectors & (1U << i)) == 0) continue;
    const auto offset = static_cast<std::ptrdiff_t>(i * kSectorBytes);
    if (image) {
      std::copy_n(image->begin() + offset, kSectorBytes, page.begin() + offset);
    } else {
      std::fill_n(page.begin() + offset, kSectorBytes, std::byte{0});
    }
  }
}

std::uint64_t PagedBytes::allocated_pages() const {
  return static_cast<std::uint64_t>(std::count_if(pages_.begin(), pages_.end(), [](const PagePtr& page) { return page != nullptr; }));
}

ByteVector PagedBytes::to_vector() const {
  ByteVector out(narrow<std::size_t>(size_));
  (void)read(0, out);
  return out;
}

}  // namespace sluice::sim
