// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/dedup_key.hpp"

#include <fmt/format.h>

namespace sluice::pipeline {

std::string dedup_key(const Coordinates& at, std::optional<std::uint32_t> part) {
  std::string key =
      fmt::format("{}:{}:{}:{}:{}:{}", to_hex(at.cluster_id), at.topic.stream, at.topic.topic, at.partition, at.incarnation, at.offset);
  if (part) key += fmt::format(":{}", *part);
  return key;
}

}  // namespace sluice::pipeline
