// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice::log {

inline constexpr std::size_t kPooledBuffersMax = 16;
inline constexpr std::size_t kPooledBufferBytesMax = 2u << 20;

// Memory for a read begins with a page, and what is read goes to the same place within a page as it has in the file. With the target a few
// bytes further on than that, some processors copy at a fifth of the speed, and such is what malloc gives (docs/benchmarks.md).
inline constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t place_in_page(std::uint64_t position) {
  return static_cast<std::size_t>(position % kPageBytes);
}

struct PageMemoryDelete {
  void operator()(std::byte* bytes) const;
};
using PageMemory = std::unique_ptr<std::byte[], PageMemoryDelete>;
[[nodiscard]] PageMemory make_page_memory(std::size_t size);

// Memory to read into, which the entries in it may outlive the reader with. Buffers that nobody holds any more are kept for the next
// readers, up to the two limits: fresh memory of that size comes page by page from the kernel, which takes longer than the read itself.
// For the whole process. Any thread.
[[nodiscard]] std::shared_ptr<std::byte[]> take_read_buffer(std::size_t size);

}  // namespace sluice::log
