// SPDX-License-Identifier: Apache-2.0
#include "core/log/read_buffers.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

namespace sluice::log {
namespace {

struct Buffer {
  PageMemory bytes;
  std::size_t size = 0;
};

class Pool {
 public:
  std::optional<Buffer> take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(free_, [size](const Buffer& buffer) { return buffer.size >= size; });
    if (found == free_.end()) return std::nullopt;
    std::swap(*found, free_.back());
    Buffer out = std::move(free_.back());
    free_.pop_back();
    return out;
  }
  void give_back(Buffer buffer) {
    if (buffer.size > kPooledBufferBytesMax) return;
    const std::lock_guard lock(mutex_);
    // The one that came last is warm, and the larger ones are of use to more readers.
    if (free_.size() >= kPooledBuffersMax) {
      const auto smallest = std::ranges::min_element(free_, {}, &Buffer::size);
      if (smallest->size < buffer.size) std::swap(*smallest, buffer);
      return;
    }
    free_.push_back(std::move(buffer));
  }

 private:
  std::mutex mutex_;
  std::vector<Buffer> free_;
};

}  // namespace

void PageMemoryDelete::operator()(std::byte* bytes) const {
  ::operator delete[](bytes, std::align_val_t{kPageBytes});
}

PageMemory make_page_memory(std::size_t size) {
  return PageMemory(static_cast<std::byte*>(::operator new[](size, std::align_val_t{kPageBytes})));
}

std::shared_ptr<std::byte[]> take_read_buffer(std::size_t size) {
  static const auto kPool = std::make_shared<Pool>();
  std::optional<Buffer> buffer = kPool->take(size);
  if (!buffer) buffer = Buffer{make_page_memory(size), size};
  std::byte* const bytes = buffer->bytes.release();
  // Its own share of the pool: entries may be let go after everything else is gone.
  return {bytes, [pool = kPool, capacity = buffer->size](std::byte* held) { pool->give_back({PageMemory(held), capacity}); }};
}

}  // namespace sluice::log
