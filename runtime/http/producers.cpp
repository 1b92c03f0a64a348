// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/producers.hpp"

#include <algorithm>

namespace sluice::http {

namespace {

// Nobody waits for others to come, but who comes while two entries are being written shares the next.
constexpr client::ProducerLimits kLimits{.max_in_flight = 2, .linger_max = std::chrono::nanoseconds(0), .retry_for = kProduceRetryFor};

}  // namespace

std::shared_ptr<client::Producer> Producers::of(client::PartitionRef partition) {
  const std::lock_guard lock(mutex_);
  if (const auto found = producers_.find(partition); found != producers_.end() && !found->second->stopped()) return found->second;
  if (producers_.size() >= sweep_at_) forget_deleted();
  auto producer = std::make_shared<client::Producer>(client_, partition, client::ProducerOptions{.limits = kLimits});
  producers_.insert_or_assign(partition, producer);
  return producer;
}

void Producers::forget_deleted() {
  std::erase_if(producers_, [this](const auto& item) { return !client_.is_there(item.first); });
  sweep_at_ = std::max(kProducersSweepMin, 2 * producers_.size());
}

}  // namespace sluice::http
