// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"
#include "core/entry/limits.hpp"
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
using Batches = std::map<std::uint32_t, std::vector<Record>>;

// Whose request it is, and which one, if its sender may send it again.
Result<std::optional<client::RequestId>> request_id(const Request& request) {
  const auto producer = request.query.find("producer");
  SLUICE_TRY(const auto number, query_number(request, "request", std::numeric_limits<std::int64_t>::max()));
  if (producer == request.query.end() && !number) return std::nullopt;
  const auto client = producer == request.query.end() ? std::nullopt : u128_from_hex(producer->second);
  if (!client || *client == ClientId{} || !number || !request.query.contains("partition")) {
    return fail(Errc::kBadRequest,
                "a numbered request has 'producer', which is 32 hex digits and not 0, 'request', which is a number, and 'partition'");
  }
  return client::RequestId{*client, RequestNumber(*number)};
}

// For the ids of its records: sent again, they get the same ones, for they are a part of what the log compares.
std::uint64_t seed_of(const client::RequestId& id, std::uint64_t partition) {
  ByteVector bytes;
  ByteWriter writer(bytes);
  for (const std::uint64_t part : {id.client.low, id.client.high, id.number.value(), partition}) writer.put(part);
  return xxh3_64(bytes);
}

// Of one line; its place in a batch is another question.
Result<void> check_size(const RecordView& record) {
  const std::size_t bytes =
      (record.key ? record.key->size() : 0) + (record.payload ? record.payload->size() : 0) + record.headers.encoded().size();
  if (bytes <= entry::kRecordBytesMax) return {};
  return fail(client::Errc::kRecordTooLarge, fmt::format("a record of {} bytes; at most {} are allowed", bytes, entry::kRecordBytesMax));
}

// `ids` names the records that have no name.
Result<Batches> read_batches(Api& api, const client::TopicInfo& topic, const Request& request, Random& ids) {
  SLUICE_TRY(const auto asked, query_number(request, "partition", client::kPartitionsMax));
  SLUICE_TRY(const auto time, query_number(request, "origin_timestamp_us", std::numeric_limits<std::int64_t>::max()));
  const TimestampUs origin = time ? TimestampUs(static_cast<std::int64_t>(*time)) : api.clock.wall();
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
      if (produced.record.id == U128{}) produced.record.id = ids.next_u128();
      if (produced.record.origin_timestamp == TimestampUs{}) produced.record.origin_timestamp = origin;
      SLUICE_CHECK(check_size(produced.record.view()));
      const std::uint64_t index = partition_of(produced, asked, narrow<std::uint32_t>(topic.partitions.size()), turn);
      SLUICE_TRY(const auto* partition, find_partition(topic, index));
      out[partition->index.value()].push_back(std::move(produced.record));
      return {};
    };
    if (auto added = add(); !added) return fail(std::move(added).error().with("line", std::to_string(number)));
  }
  return out;
}

std::future<Result<client::AppendResult>> send(Api& api, client::PartitionRef partition, const std::vector<Record>& records,
                                               std::optional<client::RequestId> id) {
  const auto answer = std::make_shared<std::promise<Result<client::AppendResult>>>();
  auto done = [answer](Result<client::AppendResult> stored) { answer->set_value(std::move(stored)); };
  if (id) {
    // An entry of its own, since it has its own number.
    client::AppendBatch batch;
    batch.set_request(*id);
    for (const Record& record : records) {
      if (auto added = batch.add(record.view()); !added) {
        done(fail(std::move(added).error()));
        return answer->get_future();
      }
    }
    api.client.append(partition, std::move(batch), std::move(done));
  } else {
    std::vector<RecordView> views;
    views.reserve(records.size());
    for (const Record& record : records) views.push_back(record.view());
    api.producers.of(partition)->send(views, std::move(done));
  }
  return answer->get_future();
}

Result<client::AppendResult> await(std::future<Result<client::AppendResult>>& answer, std::chrono::steady_clock::time_point deadline) {
  if (answer.wait_until(deadline) == std::future_status::ready) return answer.get();
  return fail(sluice::Errc::kTimeout,
              fmt::format("no answer within {} s; the records may still be stored", client::kOperationDeadline.count()));
}

Result<Response> produce_records(Api& api, const Request& request) {
  SLUICE_TRY(const auto topic, api.client.describe_topic(topic_parameter(request)));
  SLUICE_TRY(const auto id, request_id(request));
  SLUICE_TRY(const auto asked, query_number(request, "partition", client::kPartitionsMax));
  SeededRandom same_ids(id ? seed_of(*id, asked.value_or(0)) : 0);
  SLUICE_TRY(const auto batches, read_batches(api, topic, request, id ? same_ids : api.random));
  if (id && batches.empty()) return fail(Errc::kBadRequest, "a numbered request without a record");
  if (id && (batches.size() > 1 || batches.begin()->first != asked))
    return fail(Errc::kBadRequest, "a record of a numbered request names another partition than the request");
  // All at once: partitions do not wait for each other.
  std::map<std::uint32_t, std::future<Result<client::AppendResult>>> answers;
  for (const auto& [index, records] : batches) answers[index] = send(api, topic.partitions[index].ref, records, id);
  json::array rows;
  std::uint64_t appended = 0;
  std::optional<Error> failure;
  const auto deadline = std::chrono::steady_clock::now() + client::kOperationDeadline;
  for (auto& [index, answer] : answers) {
    auto result = await(answer, deadline);
    if (!result) {
      if (!failure) failure = std::move(result).error().with("partition", std::to_string(index));
      continue;
    }
    appended += result->next_offset - result->base_offset;
    json::object row;
    row["partition"] = index;
    row["base_offset"] = result->base_offset.value();
    row["next_offset"] = result->next_offset.value();
    rows.push_back(std::move(row));
  }
  if (failure) return fail(std::move(failure->with("appended", json::serialize(rows))));
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
