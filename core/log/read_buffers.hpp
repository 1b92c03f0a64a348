// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace sluice::log {

inline constexpr std::size_t kPooledBuffersMax = 16;
inline constexpr std::size_t kPooledBufferBytesMax = 2u << 20;

// Memory to read into, which the entries in it may outlive the reader with. Buffers that nobody holds any more are kept for the next
// readers, up to the two limits: fresh memory of that size comes page by page from the kernel, which takes longer than the read itself.
// For the whole process. Any thread.
[[nodiscard]] std::shared_ptr<std::byte[]> take_read_buffer(std::size_t size);

}  // namespace sluice::log
