// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "core/storage/storage.hpp"

namespace sluice::bench {

// The storage below, how often a file of its was made durable, and how much was read. [any thread]
class CountingStorage final : public storage::Storage {
 public:
  explicit CountingStorage(storage::Storage& below) : below_(below) {}

  [[nodiscard]] std::uint64_t syncs() const { return counts_.syncs.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes_read() const { return counts_.bytes_read.load(std::memory_order_relaxed); }

  Result<storage::FilePtr> open(const std::string& path, storage::OpenMode mode) override;
  Result<void> rename(const std::string& from, const std::string& to) override { return below_.rename(from, to); }
  Result<void> remove(const std::string& path) override { return below_.remove(path); }
  Result<void> remove_directory(const std::string& directory) override { return below_.remove_directory(directory); }
  Result<std::vector<std::string>> list(const std::string& directory) override { return below_.list(directory); }
  Result<void> make_directories(const std::string& directory) override { return below_.make_directories(directory); }
  Result<void> sync_directory(const std::string& directory) override { return below_.sync_directory(directory); }

 private:
  class CountingFile;
  struct Counts {
    std::atomic<std::uint64_t> syncs = 0;
    std::atomic<std::uint64_t> bytes_read = 0;
  };

  storage::Storage& below_;
  Counts counts_;
};

}  // namespace sluice::bench
