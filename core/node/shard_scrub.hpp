// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>

#include "core/base/clock.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/node/scrub_pace.hpp"
#include "core/node/shard.hpp"

namespace sluice::node {

struct GroupSlot;

inline constexpr std::chrono::minutes kScrubPause{1};  // between two rounds over the partitions of a shard
inline constexpr std::size_t kScrubVisitsMax = 256;    // partitions that are asked in a row

// Scrubs the sealed segments of the partitions of one shard: one step at a time, partition after partition, at a low rate, again and again.
// What was verified when is known by each partition, and only in this run. On the shard's thread, but for the constructor.
class ShardScrub {
 public:
  struct Options {
    std::uint64_t bytes_per_second = 0;
    std::chrono::nanoseconds interval{};
  };
  // `shard` and `clock` outlive it until the shard has stopped.
  ShardScrub(Shard& shard, const Clock& clock, const Options& options);

  // A partition that was opened. It leaves by itself when it is deleted.
  void add(const std::shared_ptr<GroupSlot>& slot);
  void start() { go_on(); }

 private:
  void go_on();
  void on_step(Clock::Monotonic began, const Result<std::uint64_t>& bytes);
  void rest(std::chrono::nanoseconds pause);

  Shard& shard_;
  const Clock& clock_;
  std::chrono::nanoseconds interval_;
  ScrubPace pace_;
  std::map<GroupId, std::weak_ptr<GroupSlot>> partitions_;
  GroupId at_;  // where the round goes on
};

}  // namespace sluice::node
