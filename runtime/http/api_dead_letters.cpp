// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/time_format.hpp"
#include "runtime/http/api.hpp"
#include "runtime/http/api_json.hpp"
#include "runtime/http/errc.hpp"
#include "runtime/http/record_json.hpp"
#include "runtime/pipeline/dead_letter.hpp"

namespace sluice::http {

namespace json = boost::json;

namespace {

constexpr std::uint64_t kDeadLettersDefault = 100;
constexpr std::uint64_t kOffsetMax = std::numeric_limits<std::int64_t>::max();

json::object reason_json(const pipeline::DeadLetterReason& reason) {
  json::object out;
  out["class"] = reason.outcome_class;
  out["scope"] = reason.scope;
  out["code"] = reason.code;
  out["text"] = reason.text;
  out["hint"] = reason.hint;
  if (reason.http_status != 0) out["http_status"] = reason.http_status;
  out["attempts"] = reason.attempts;
  out["failed_at"] = format_rfc3339(reason.failed_at);
  out["plugin_version"] = reason.plugin_version;
  return out;
}

json::object coordinates_json(const pipeline::DeadLetterReason& reason) {
  json::object out;
  out["topic"] = client::to_string(reason.source.topic);
  if (!reason.from_sink) return out;
  out["partition"] = reason.source.partition.value();
  out["offset"] = reason.source.offset.value();
  out["incarnation"] = reason.source.incarnation.value();
  out["timestamp"] = format_rfc3339(reason.source_timestamp);
  return out;
}

json::object dead_letter_json(const client::LogRecord& stored, bool whole) {
  json::object out;
  out["offset"] = stored.offset.value();
  out["timestamp"] = format_rfc3339(stored.timestamp);
  const auto letter = pipeline::decode_dead_letter(stored.record);
  if (!letter) {
    out["problem"] = letter.error().to_string();
    return out;
  }
  out["reason"] = reason_json(letter->reason);
  out["source"] = coordinates_json(letter->reason);
  json::array cuts;
  for (const auto& cut : letter->cuts) {
    json::object row;
    row["part"] = cut.part;
    row["original_bytes"] = cut.original_bytes;
    row["xxh3_128"] = to_hex(cut.hash);
    cuts.push_back(std::move(row));
  }
  out["cuts"] = std::move(cuts);
  put_bytes(out, "key", letter->record.key);
  if (!whole) return out;
  const client::LogRecord original{
      .offset = letter->reason.source.offset, .timestamp = letter->reason.source_timestamp, .record = letter->record};
  out["record"] = json::parse(record_to_json(letter->reason.source.partition, original));
  return out;
}

// The one partition of the connector's dead letter topic; nothing if it has none yet.
Result<std::optional<client::PartitionInfo>> dead_letter_partition(Api& api, const std::string& connector) {
  auto topic = api.client.describe_topic(pipeline::dead_letter_topic(connector));
  if (!topic) {
    if (topic.error().kind() != ErrorKind::kNotFound) return fail(std::move(topic).error());
    SLUICE_TRY(const auto status, api.supervisor.status(connector));
    return std::nullopt;
  }
  if (topic->partitions.empty()) return std::nullopt;
  return topic->partitions.front();
}

Result<Response> list_dead_letters(Api& api, const Request& request) {
  const std::string& connector = request.parameters.at("key");
  SLUICE_TRY(const auto limit, query_number(request, "limit", kDeadLettersMax));
  SLUICE_TRY(const auto offset, query_number(request, "offset", kOffsetMax));
  SLUICE_TRY(const auto partition, dead_letter_partition(api, connector));
  json::object out;
  out["connector"] = connector;
  out["topic"] = client::to_string(pipeline::dead_letter_topic(connector));
  json::array rows;
  if (partition) {
    const Offset from = std::max(offset ? Offset(*offset) : partition->first_offset, partition->first_offset);
    const client::ReadRequest wanted{
        .from = from, .records_max = static_cast<std::uint32_t>(std::max<std::uint64_t>(limit.value_or(kDeadLettersDefault), 1))};
    SLUICE_TRY(const auto result, api.client.read(partition->ref, wanted));
    for (const client::LogRecord& record : result.records) rows.push_back(dead_letter_json(record, false));
    out["next_offset"] = result.next.value();
    out["high_watermark"] = result.high_watermark.value();
  }
  out["dead_letters"] = std::move(rows);
  return json_response(out);
}

Result<Response> show_dead_letter(Api& api, const Request& request) {
  const std::string& connector = request.parameters.at("key");
  Request numbered;
  numbered.query["offset"] = request.parameters.at("offset");
  SLUICE_TRY(const auto offset, query_number(numbered, "offset", kOffsetMax));
  SLUICE_TRY(const auto partition, dead_letter_partition(api, connector));
  if (partition && Offset(*offset) >= partition->first_offset) {
    SLUICE_TRY(const auto result, api.client.read(partition->ref, {.from = Offset(*offset), .records_max = 1}));
    if (!result.records.empty() && result.records.front().offset == Offset(*offset))
      return json_response(dead_letter_json(result.records.front(), true));
  }
  return fail(sluice::Errc::kNotFound, fmt::format("{} has no dead letter at offset {}", connector, *offset));
}

Result<Response> retry_dead_letters(Api& api, const Request& request) {
  SLUICE_CHECK(check_started(api));
  SLUICE_TRY(const auto body, body_object(request, {"offset"}));
  SLUICE_TRY(const auto offset, number_field(body, "offset", 0, kOffsetMax));
  SLUICE_TRY(const auto taken,
             api.supervisor.retry_dead_letters(request.parameters.at("key"), offset ? std::optional(Offset(*offset)) : std::nullopt));
  json::object out;
  out["taken"] = taken;
  return json_response(out);
}

}  // namespace

void add_dead_letter_routes(Router& router, Api& api) {
  router.add({.method = "GET", .pattern = "/api/v1/connectors/{key}/dead-letters", .handler = answer_with([&api](const Request& r) {
                                                                                     return list_dead_letters(api, r);
                                                                                   })});
  router.add({.method = "GET",
              .pattern = "/api/v1/connectors/{key}/dead-letters/{offset}",
              .handler = answer_with([&api](const Request& r) { return show_dead_letter(api, r); })});
  router.add({.method = "POST", .pattern = "/api/v1/connectors/{key}/dead-letters/retry", .handler = answer_with([&api](const Request& r) {
                                                                                            return retry_dead_letters(api, r);
                                                                                          })});
}

}  // namespace sluice::http
