// SPDX-License-Identifier: Apache-2.0
// The daemon's own small files: configuration, pid, port, sidecars. The log's files go through core/storage instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"

namespace sluice::files {

inline constexpr std::uint64_t kReadBytesMax = 4ULL << 20;

// The whole file. Larger than bytes_max, a folder, or unreadable: an error that names the file. [any thread, blocks]
[[nodiscard]] Result<std::string> read(const std::filesystem::path& file, std::uint64_t bytes_max = kReadBytesMax);

// Contents of a file in pages of their own, which go back to the system with the object: megabytes that each of ten threads reads once
// would stay behind in the allocator's arenas of those threads.
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(Pages&& other) noexcept : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Pages& operator=(Pages&& other) noexcept;

  [[nodiscard]] char* data() { return begin_; }
  [[nodiscard]] std::string_view text() const { return {begin_, bytes_}; }

 private:
  char* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

// As read(), for large files: what the file held when it was opened, into pages. [any thread, blocks]
[[nodiscard]] Result<Pages> read_into_pages(const std::filesystem::path& file, std::uint64_t bytes_max);

// The file that this process runs. [any thread, blocks]
[[nodiscard]] Result<std::filesystem::path> own_program();

// Replaces the file as a whole: after a crash it has the old contents or the new ones, never a mixture, and once this has returned it has
// the new ones. Writes <file>.tmp beside it, syncs, renames, syncs the folder. `mode` applies whatever the umask says.
[[nodiscard]] Result<void> write_atomically(const std::filesystem::path& file, std::string_view contents, std::uint32_t mode = 0644);

}  // namespace sluice::files
