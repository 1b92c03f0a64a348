// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/record_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "core/base/checksum.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/time_format.hpp"
#include "runtime/http/base64.hpp"
#include "runtime/http/errc.hpp"

namespace sluice::http {

namespace json = boost::json;

namespace {

constexpr std::string_view kBase64Suffix = "_base64";
constexpr std::array<std::string_view, 10> kProduceFields{"key",       "key_base64", "payload", "payload_base64", "headers",
                                                          "partition", "id",         "format",  "schema_id",      "origin_timestamp_us"};

// `<name>` as text, `<name>_base64` as bytes, null or nothing as absent.
Result<std::optional<ByteVector>> take_bytes(const json::object& from, std::string_view name) {
  const std::string encoded_name = std::string(name) + std::string(kBase64Suffix);
  const json::value* text = from.if_contains(name);
  const json::value* encoded = from.if_contains(encoded_name);
  if (text != nullptr && encoded != nullptr)
    return fail(Errc::kBadRequest, fmt::format("'{}' and '{}' exclude each other", name, encoded_name));
  if (encoded != nullptr) {
    auto bytes = encoded->is_string() ? base64_decode(encoded->get_string()) : std::nullopt;
    if (!bytes) return fail(Errc::kBadRequest, fmt::format("'{}' must be a string of padded base64", encoded_name));
    return bytes;
  }
  if (text == nullptr || text->is_null()) return std::nullopt;
  if (!text->is_string()) {
    return fail(Errc::kBadRequest, fmt::format("'{}' must be a string or null; a JSON document goes in as a string that holds it", name));
  }
  const Bytes bytes = as_bytes(text->get_string());
  return ByteVector(bytes.begin(), bytes.end());
}

template <typename T>
Result<std::optional<T>> take_number(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr) return std::nullopt;
  boost::system::error_code error;
  const T number = value->to_number<T>(error);
  if (error)
    return fail(Errc::kBadRequest, fmt::format("'{}' must be a whole number from {} to {}", name, std::numeric_limits<T>::min(),
                                               std::numeric_limits<T>::max()));
  return number;
}

Result<void> take_headers(const json::object& from, Headers& into) {
  const json::value* headers = from.if_contains("headers");
  if (headers == nullptr) return {};
  if (!headers->is_array()) return fail(Errc::kBadRequest, "'headers' must be an array of {\"name\", \"value\" or \"value_base64\"}");
  for (const json::value& item : headers->get_array()) {
    const json::object* header = item.if_object();
    const json::value* name = header == nullptr ? nullptr : header->if_contains("name");
    if (name == nullptr || !name->is_string()) return fail(Errc::kBadRequest, "a header needs a 'name', a string");
    SLUICE_TRY(const auto value, take_bytes(*header, "value"));
    if (!value)
      return fail(Errc::kBadRequest, fmt::format("header '{}' needs a 'value' or 'value_base64'", std::string_view(name->get_string())));
    SLUICE_CHECK(into.add(name->get_string(), *value));
  }
  return {};
}

Result<void> refuse_unknown_fields(const json::object& from) {
  for (const auto& field : from) {
    const std::string_view name = field.key();
    if (std::ranges::find(kProduceFields, name) == kProduceFields.end()) {
      return fail(Errc::kBadRequest,
                  fmt::format("a record has no field '{}'; known are {}", clean_text(name, 64), fmt::join(kProduceFields, ", ")));
    }
  }
  return {};
}

}  // namespace

void put_bytes(json::object& into, std::string_view name, const std::optional<Bytes>& bytes) {
  if (!bytes) {
    into[name] = nullptr;
  } else if (const std::string_view text = as_text(*bytes); is_utf8(text)) {
    into[name] = text;
  } else {
    into[std::string(name) + std::string(kBase64Suffix)] = base64_encode(*bytes);
  }
}

std::string record_to_json(PartitionIndex partition, const client::LogRecord& stored) {
  const RecordView& record = stored.record;
  json::object out;
  out["partition"] = partition.value();
  out["offset"] = stored.offset.value();
  out["timestamp"] = format_rfc3339(stored.timestamp);
  put_bytes(out, "key", record.key);
  put_bytes(out, "payload", record.payload);
  json::array headers;
  for (const HeaderView header : record.headers) {
    json::object item;
    item["name"] = header.name;
    put_bytes(item, "value", header.value);
    headers.push_back(std::move(item));
  }
  out["headers"] = std::move(headers);
  out["id"] = to_hex(record.id);
  out["origin_timestamp_us"] = record.origin_timestamp.value();
  out["format"] = record.format;
  out["schema_id"] = record.schema_id;
  return json::serialize(out);
}

Result<ProducedRecord> record_from_json(std::string_view line) {
  boost::system::error_code error;
  const json::value parsed = json::parse({line.data(), line.size()}, error);
  if (error) return fail(Errc::kBadRequest, fmt::format("not JSON: {}", error.message()));
  const json::object* from = parsed.if_object();
  if (from == nullptr) return fail(Errc::kBadRequest, "a record is a JSON object");
  SLUICE_CHECK(refuse_unknown_fields(*from));

  ProducedRecord out;
  SLUICE_TRY(out.record.key, take_bytes(*from, "key"));
  SLUICE_TRY(out.record.payload, take_bytes(*from, "payload"));
  SLUICE_CHECK(take_headers(*from, out.record.headers));
  SLUICE_TRY(const auto partition, take_number<std::uint32_t>(*from, "partition"));
  if (partition) out.partition = PartitionIndex(*partition);
  SLUICE_TRY(const auto format, take_number<std::uint16_t>(*from, "format"));
  out.record.format = format.value_or(0);
  SLUICE_TRY(const auto schema_id, take_number<std::uint32_t>(*from, "schema_id"));
  out.record.schema_id = schema_id.value_or(0);
  SLUICE_TRY(const auto origin, take_number<std::int64_t>(*from, "origin_timestamp_us"));
  out.record.origin_timestamp = TimestampUs(origin.value_or(0));
  if (const json::value* id = from->if_contains("id"); id != nullptr) {
    const auto parsed_id = id->is_string() ? u128_from_hex(std::string_view(id->get_string())) : std::nullopt;
    if (!parsed_id) return fail(Errc::kBadRequest, "'id' must be a string of 32 hex digits");
    out.record.id = *parsed_id;
  }
  return out;
}

std::uint64_t partition_of(const ProducedRecord& produced, std::optional<std::uint64_t> asked, std::uint32_t partitions,
                           std::uint32_t turn) {
  if (produced.partition) return produced.partition->value();
  if (asked) return *asked;
  return produced.record.key ? xxh3_64(*produced.record.key) % partitions : turn % partitions;
}

}  // namespace sluice::http
