// SPDX-License-Identifier: Apache-2.0
// Private to runtime/http: what several handlers read from paths and queries.
#pragma once

#include "core/client/topic.hpp"
#include "runtime/http/message.hpp"

namespace sluice::http {

// {stream} and {topic} of the route.
[[nodiscard]] inline client::TopicName topic_parameter(const Request& request) {
  return {.stream = request.parameters.at("stream"), .topic = request.parameters.at("topic")};
}

}  // namespace sluice::http
