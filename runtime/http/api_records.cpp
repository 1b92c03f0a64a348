// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/checksum.hpp"
#include "core/client/append_batch.hpp"
#include "runtime/base/time_format.hpp"
#include "runtime/http/api.hpp"
#include "runtime/http/api_json.hpp"
#include "runtime/http/api_parameters.hpp"
#include "runtime/http/errc.hpp"
#include "runtime/http/record_json.hpp"

namespace sluice::http {

namespace json = boost::json;

namespace {

constexpr std::uint64_t kConsumeRecordsDefault = 100;
constexpr std::uint64_t kConsumeBytesDefault = 1ULL << 20;
constexpr std::size_t kProduceRecordsMax = 20'000;
// A long poll looks at its stop token this often.
constexpr std::chrono::milliseconds kWaitSlice{250};

Result<const client::PartitionInfo*> find_partition(const client::TopicInfo& topic, std::uint64_t index) {
  if (index >= topic.partitions.size()) {
    return fail(Errc::kBadRequest, fmt::format("{} has {} partition(s), from 0; there is no {}", client::to_string(topic.name),
                                               topic.partitions.size(), index));
  }
  return &topic.partitions[index];
}

// Records of one request by partition, in the order of the request.
using Batches = std::map<std::uint32_t, client::AppendBatch>;

Result<std::uint32_t> choose_partition(const client::TopicInfo& topic, const ProducedRecord& produced, std::optional<std::uint64_t> asked,
                                       std::uint32_t turn) {
  const std::optional<std::uint64_t> named = produced.partition ? std::optional<std::uint64_t>(produced.partition->value()) : asked;
  if (named) {
    SLUICE_TRY(const auto* partition, find_partition(topic, *named));
    return partition->index.value();
  }
  const auto count = static_cast<std::uint32_t>(topic.partitions.size());
  if (!produced.record.key) return turn % count;
  return static_cast<std::uint32_t>(xxh3_64(*produced.record.key) % count);
}

Result<Batches> read_batches(Api& api, const client::TopicInfo& topic, const Request& request) {
  SLUICE_TRY(const auto asked, query_number(request, "partition", client::kPartitionsMax));
  const std::uint32_t turn = api.next_partition.fetch_add(1, std::memory_order_relaxed);
  Batches out;
  std::size_t number = 0;
  std::size_t records = 0;
  for (std::string_view rest = request.body; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto add = [&]() -> Result<void> {
      if (++records > kProduceRecordsMax)
        return fail(Errc::kBodyTooLarge, fmt::format("a request takes at most {} records", kProduceRecordsMax));
      SLUICE_TRY(auto produced, record_from_json(line));
      if (produced.record.id == U128{}) produced.record.id = api.random.next_u128();
      if (produced.record.origin_timestamp == TimestampUs{}) produced.record.origin_timestamp = api.clock.wall();
      SLUICE_TRY(const std::uint32_t partition, choose_partition(topic, produced, asked, turn));
      return out[partition].add(produced.record.view());
    };
    if (auto added = add(); !added) return fail(std::move(added).error().with("line", std::to_string(number)));
  }
  return out;
}

Result<Response> produce_records(Api& api, const Request& request) {
  SLUICE_TRY(const auto topic, api.client.describe_topic(topic_parameter(request)));
  SLUICE_TRY(auto batches, read_batches(api, topic, request));
  json::array rows;
  std::uint64_t appended = 0;
  for (auto& [index, batch] : batches) {
    auto result = api.client.append(topic.partitions[index].ref, std::move(batch));
    if (!result) {
      Error error = std::move(result).error();
      error.with("partition", std::to_string(index)).with("appended", json::serialize(rows));
      return fail(std::move(error));
    }
    appended += result->next_offset - result->base_offset;
    json::object row;
    row["partition"] = index;
    row["base_offset"] = result->base_offset.value();
    row["next_offset"] = result->next_offset.value();
    rows.push_back(std::move(row));
  }
  json::object out;
  out["appended"] = appended;
  out["partitions"] = std::move(rows);
  return json_response(out);
}

// "offset" (a number, earliest, latest) or "time" (RFC 3339); earliest if neither is given.
Result<Offset> start_offset(Api& api, const client::PartitionInfo& partition, const Request& request) {
  const auto offset = request.query.find("offset");
  const auto time = request.query.find("time");
  if (offset != request.query.end() && time != request.query.end())
    return fail(Errc::kBadRequest, "'offset' and 'time' exclude each other");
  if (time != request.query.end()) {
    const auto at = parse_rfc3339(time->second);
    if (!at) return fail(Errc::kBadRequest, fmt::format("'time' must be an RFC 3339 time: {}", at.error().message()));
    return api.client.offset_for_time(partition.ref, *at);
  }
  if (offset == request.query.end() || offset->second == "earliest") return partition.first_offset;
  if (offset->second == "latest") return partition.next_offset;
  SLUICE_TRY(const auto number, query_number(request, "offset", std::numeric_limits<std::int64_t>::max()));
  return Offset(*number);
}

// Reads until there is a record, the wait is over or the server stops.
Result<client::ReadResult> read_within(Api& api, client::PartitionRef partition, client::ReadRequest wanted, std::chrono::milliseconds wait,
                                       const std::stop_token& stop) {
  const auto deadline = std::chrono::steady_clock::now() + wait;
  std::uint64_t gap_offsets = 0;  // of all reads since the first
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    wanted.wait_max = std::clamp(left, std::chrono::milliseconds(0), kWaitSlice);
    SLUICE_TRY(auto result, api.client.read(partition, wanted));
    gap_offsets = result.gap_offsets += gap_offsets;
    if (!result.records.empty() || wanted.wait_max.count() == 0 || stop.stop_requested()) return result;
    wanted.from = result.next;
  }
}

Result<Response> consume_records(Api& api, const Request& request) {
  SLUICE_TRY(const auto topic, api.client.describe_topic(topic_parameter(request)));
  SLUICE_TRY(const auto index, query_number(request, "partition", client::kPartitionsMax));
  if (!index && topic.partitions.size() > 1)
    return fail(Errc::kBadRequest, fmt::format("'partition' is missing: the topic has {}", topic.partitions.size()));
  SLUICE_TRY(const auto* partition, find_partition(topic, index.value_or(0)));
  if (partition->refused) return fail(*partition->refused);
  SLUICE_TRY(const auto limit, query_number(request, "limit", kConsumeRecordsMax));
  SLUICE_TRY(const auto bytes_max, query_number(request, "bytes_max", kConsumeBytesMax));
  SLUICE_TRY(const auto wait_ms, query_number(request, "wait_ms", kConsumeWaitMaxMs));
  SLUICE_TRY(const Offset from, start_offset(api, *partition, request));

  const client::ReadRequest wanted{
      .from = from,
      .records_max = static_cast<std::uint32_t>(std::max<std::uint64_t>(limit.value_or(kConsumeRecordsDefault), 1)),
      .bytes_max = bytes_max.value_or(kConsumeBytesDefault)};
  SLUICE_TRY(const auto result, read_within(api, partition->ref, wanted, std::chrono::milliseconds(wait_ms.value_or(0)), request.stop));
  Response response{.content_type = std::string(kNdjson)};
  for (const client::LogRecord& record : result.records) {
    response.body += record_to_json(partition->index, record);
    response.body += '\n';
  }
  response.headers = {{"Sluice-Next-Offset", std::to_string(result.next.value())},
                      {"Sluice-High-Watermark", std::to_string(result.high_watermark.value())},
                      {"Sluice-Gap-Offsets", std::to_string(result.gap_offsets)}};
  return response;
}

}  // namespace

void add_record_routes(Router& router, Api& api) {
  router.add({.method = "POST",
              .pattern = "/api/v1/topics/{stream}/{topic}/records",
              .handler = answer_with([&api](const Request& r) { return produce_records(api, r); }),
              .body_bytes_max = kBodyBytesMaxRecords,
              .takes_ndjson = true});
  router.add({.method = "GET",
              .pattern = "/api/v1/topics/{stream}/{topic}/records",
              .handler = answer_with([&api](const Request& r) { return consume_records(api, r); }),
              .waits = true});
}

}  // namespace sluice::http
