// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/producers.hpp"

namespace sluice::http {

namespace {

// Nobody waits for others to come, but who comes while two entries are being written shares the next.
constexpr client::ProducerLimits kLimits{.max_in_flight = 2, .linger_max = std::chrono::nanoseconds(0), .retry_for = kProduceRetryFor};

}  // namespace

std::shared_ptr<client::Producer> Producers::of(client::PartitionRef partition) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<client::Producer>& producer = producers_[partition];
  if (!producer || producer->stopped()) {
    producer = std::make_shared<client::Producer>(client_, partition, client::ProducerOptions{.limits = kLimits});
  }
  return producer;
}

}  // namespace sluice::http
