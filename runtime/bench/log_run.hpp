// SPDX-License-Identifier: Apache-2.0
// Producers in a closed loop on partition logs, without a daemon around them: what `sluice bench log` measures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "runtime/bench/samples.hpp"

namespace sluice::bench {

enum class Placement {
  kInShard,     // the producer's code runs on the shard's own thread
  kOwnThreads,  // each producer is a thread that hands every batch over and waits for its completion
};

struct LogLoad {
  std::uint32_t producers = 1;   // in all
  std::uint32_t partitions = 1;  // producers are dealt round robin
  std::uint32_t records = 10;    // of one batch
  std::uint32_t record_bytes = 100;
  std::uint32_t batches = 1000;  // of one producer
  bool fsync = true;
  Placement placement = Placement::kInShard;
  std::uint32_t in_flight = 1;  // batches a producer has on their way
  bool zeros_ahead = true;
  bool index_sync = false;  // with an entry in the index for every batch
};

struct LogRun {
  Samples latencies;  // append to completion, of every batch
  double seconds = 0;
  std::uint64_t batches = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  // as stored
  std::uint64_t flushes = 0;
};

// One batch as the cases make them. Its stored size is that of all others of the same shape.
[[nodiscard]] Result<entry::EntryDraft> make_batch(std::uint32_t records, std::uint32_t record_bytes);

// Encodes all batches, then measures. The logs are left in `directory`/0, 1, … [blocking]
[[nodiscard]] Result<LogRun> run_log_load(const LogLoad& load, const std::filesystem::path& directory);

struct PollRun {
  double seconds = 0;
  std::uint64_t bytes = 0;
};
// Reads the log of `directory`/0 from its first to its last record, in requests of `bytes_max`. [blocking]
[[nodiscard]] Result<PollRun> run_sequential_poll(const std::filesystem::path& directory, std::uint64_t bytes_max);
// Opens it, which walks and verifies every entry. [blocking]
[[nodiscard]] Result<PollRun> run_recovery_walk(const std::filesystem::path& directory);

}  // namespace sluice::bench
