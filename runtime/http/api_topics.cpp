// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "runtime/http/api.hpp"
#include "runtime/http/api_json.hpp"
#include "runtime/http/api_parameters.hpp"
#include "runtime/http/errc.hpp"
#include "runtime/http/status_json.hpp"

namespace sluice::http {

namespace json = boost::json;

namespace {

constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::int64_t>::max();

Result<Response> list_topics(Api& api) {
  SLUICE_TRY(const auto topics, api.client.list_topics());
  json::object out;
  json::array rows;
  for (const client::TopicInfo& topic : topics) rows.push_back(topic_json(topic));
  out["topics"] = std::move(rows);
  return json_response(out);
}

Result<client::TopicOptions> topic_options(const json::object& body) {
  client::TopicOptions options;
  SLUICE_TRY(const auto partitions, number_field(body, "partitions", 1, client::kPartitionsMax));
  if (partitions) options.partitions = static_cast<std::uint32_t>(*partitions);
  SLUICE_TRY(const auto fsync, bool_field(body, "enforce_fsync"));
  options.enforce_fsync = fsync.value_or(options.enforce_fsync);
  SLUICE_TRY(const auto flush,
             number_field(body, "flush_interval_ms", metadata::kFlushIntervalMin.count(), metadata::kFlushIntervalMax.count()));
  if (flush) options.flush_interval = std::chrono::milliseconds(*flush);
  SLUICE_TRY(const auto segment, number_field(body, "segment_bytes", client::kSegmentBytesMin, client::kSegmentBytesMax));
  options.segment_bytes = segment.value_or(options.segment_bytes);
  SLUICE_TRY(options.retention.bytes, number_field(body, "retention_bytes", 1, kAnyBytes));
  SLUICE_TRY(const auto wait, bool_field(body, "wait_for_consumers"));
  options.retention.wait_for_consumers = wait.value_or(false);
  SLUICE_TRY(options.retention.hard_bytes, number_field(body, "hard_bytes", 1, kAnyBytes));
  SLUICE_TRY(const auto age,
             number_field(body, "retention_age_ms", metadata::kRetentionAgeMin.count(), metadata::kRetentionAgeMax.count()));
  if (age) options.retention.age = std::chrono::milliseconds(*age);
  return options;
}

Result<Response> create_topic(Api& api, const Request& request) {
  SLUICE_TRY(const auto body, body_object(request, {"name", "partitions", "enforce_fsync", "flush_interval_ms", "segment_bytes",
                                                    "retention_bytes", "retention_age_ms", "wait_for_consumers", "hard_bytes"}));
  SLUICE_TRY(const auto name_text, string_field(body, "name"));
  if (!name_text) return fail(Errc::kBadRequest, "'name' is missing: the topic as \"stream/topic\"");
  SLUICE_TRY(const auto name, client::parse_topic_name(*name_text));
  SLUICE_TRY(const auto options, topic_options(body));
  SLUICE_TRY(const auto topic, api.client.create_topic(name, options));
  return json_response(topic_json(topic), 201);
}

Result<Response> describe_topic(Api& api, const Request& request) {
  SLUICE_TRY(const auto topic, api.client.describe_topic(topic_parameter(request)));
  return json_response(topic_json(topic));
}

Result<Response> purge_topic(Api& api, const Request& request) {
  SLUICE_TRY(const auto body, body_object(request, {}));
  SLUICE_TRY(const auto before, api.client.describe_topic(topic_parameter(request)));
  SLUICE_TRY(const auto after, api.client.purge_topic(before.name));
  std::uint64_t purged = 0;
  for (std::size_t i = 0; i < std::min(before.partitions.size(), after.partitions.size()); ++i) {
    const Offset first = before.partitions[i].first_offset;
    purged += std::max(after.partitions[i].first_offset, first) - first;
  }
  json::object out = topic_json(after);
  out["purged"] = purged;
  return json_response(out);
}

}  // namespace

void add_topic_routes(Router& router, Api& api) {
  router.add({.method = "GET", .pattern = "/api/v1/topics", .handler = answer_with([&api](const Request&) { return list_topics(api); })});
  router.add(
      {.method = "POST", .pattern = "/api/v1/topics", .handler = answer_with([&api](const Request& r) { return create_topic(api, r); })});
  router.add({.method = "GET", .pattern = "/api/v1/topics/{stream}/{topic}", .handler = answer_with([&api](const Request& r) {
                                                                               return describe_topic(api, r);
                                                                             })});
  router.add({.method = "POST", .pattern = "/api/v1/topics/{stream}/{topic}/purge", .handler = answer_with([&api](const Request& r) {
                                                                                      return purge_topic(api, r);
                                                                                    })});
}

}  // namespace sluice::http
