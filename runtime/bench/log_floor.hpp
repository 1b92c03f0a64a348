// SPDX-License-Identifier: Apache-2.0
// What the device and the kernel do without a log on top: the floors and the ladder of `sluice bench log`.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/result.hpp"
#include "runtime/bench/samples.hpp"

namespace sluice::bench {

// Files of at most this size, so that every case of a run meets the same page cache and allocator.
inline constexpr std::uint64_t kBenchFileBytesMax = 128ULL << 20;

// `count` writes of `bytes` in sequence to a file whose blocks were written before, each durable when it returns (RWF_DSYNC).
[[nodiscard]] Result<Samples> floor_prewritten_dsync(const std::filesystem::path& file, std::uint64_t bytes, std::uint32_t count);

// Bytes per second of `pwrite` into the page cache, `bytes` at a time, until `total` are written.
[[nodiscard]] Result<double> floor_pwrite(const std::filesystem::path& file, std::uint64_t bytes, std::uint64_t total);
// Bytes per second of `pread` over the file, `bytes` at a time; with `hashed`, of pread and XXH3 of what was read.
[[nodiscard]] Result<double> floor_pread(const std::filesystem::path& file, std::uint64_t bytes, bool hashed);

// The steps of the ladder that are climbed by hand: the log and an index entry of 32 bytes are written for every batch.
enum class LadderStep {
  kSerialSync,      // appended files, the log synced, then the index
  kConcurrentSync,  // appended files, both syncs at the same time
};
struct LadderLoad {
  std::uint64_t batch_bytes = 0;
  std::uint32_t flushes = 0;
};
// The latency of each flush.
[[nodiscard]] Result<Samples> climb(LadderStep step, const LadderLoad& load, const std::filesystem::path& directory);

}  // namespace sluice::bench
