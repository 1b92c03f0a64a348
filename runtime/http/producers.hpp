// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "core/client/client.hpp"
#include "core/client/producer.hpp"

namespace sluice::http {

// How long a produce request waits for a partition that is busy or has no disk space left.
inline constexpr std::chrono::seconds kProduceRetryFor{1};

// From so many on, those of deleted topics are looked for, and again whenever there are twice as many as were left.
inline constexpr std::size_t kProducersSweepMin = 64;

// The producers of all produce requests, one for each partition that had one: requests that come at the same time share entries.
// Thread-safe.
class Producers {
 public:
  explicit Producers(client::Client& client) : client_(client) {}

  // A new one if the last one was stopped by a failure: that was answered to whoever it concerned.
  [[nodiscard]] std::shared_ptr<client::Producer> of(client::PartitionRef partition);

 private:
  void forget_deleted();

  client::Client& client_;
  std::mutex mutex_;
  std::map<client::PartitionRef, std::shared_ptr<client::Producer>> producers_;  // bounded by twice the partitions there are
  std::size_t sweep_at_ = kProducersSweepMin;
};

}  // namespace sluice::http
