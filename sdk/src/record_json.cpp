// SPDX-License-Identifier: Apache-2.0
#include <sluice/record_json.hpp>

#include <array>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>

#include <sluice/utf8.hpp>

namespace sluice {
namespace {

void append_base64(std::string_view bytes, std::string& out) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) out.push_back(j <= count ? kDigits[group >> (18 - 6 * j) & 63] : '=');
  }
}

void append_json_name(std::string_view name, std::string& out) {
  if (out.back() != '{') out.push_back(',');
  out.append("\"").append(name).append("\":");
}

void append_json_text(std::string_view name, std::string_view text, std::string& out) {
  append_json_name(name, out);
  out.append(boost::json::serialize(boost::json::string_view(text.data(), text.size())));
}

void append_json_number(std::string_view name, std::int64_t number, std::string& out) {
  append_json_name(name, out);
  out.append(std::to_string(number));
}

void append_json_number(std::string_view name, std::uint64_t number, std::string& out) {
  append_json_name(name, out);
  out.append(std::to_string(number));
}

// Bytes are text under `name` if they are UTF-8, else Base64 under `name`_base64.
void append_json_bytes(const std::string& name, std::string_view bytes, std::string& out) {
  if (is_utf8(bytes)) {
    append_json_text(name, bytes, out);
    return;
  }
  append_json_name(name + "_base64", out);
  out.push_back('"');
  append_base64(bytes, out);
  out.push_back('"');
}

std::string record_id_hex(const Record& record) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint64_t word : {record.id_high(), record.id_low()}) {
    for (int shift = 60; shift >= 0; shift -= 4) hex.push_back(kDigits[word >> shift & 15]);
  }
  return hex;
}

}  // namespace

std::string format_name(Format format) {
  static constexpr std::array<std::string_view, 7> kNames{"raw", "json", "text", "csv", "avro", "protobuf", "flatbuffers"};
  const auto index = static_cast<std::size_t>(format);
  return index < kNames.size() ? std::string(kNames[index]) : "format-" + std::to_string(index);
}

void append_record_json(const Batch& batch, const Record& record, std::string& out) {
  out.push_back('{');
  append_json_text("id", dedup_key(batch, record), out);
  append_json_text("record_id", record_id_hex(record), out);
  append_json_text("stream", batch.stream(), out);
  append_json_text("topic", batch.topic(), out);
  append_json_number("partition", std::uint64_t{batch.partition()}, out);
  append_json_number("incarnation", batch.incarnation(), out);
  append_json_number("offset", record.offset(), out);
  if ((record.abi().flags & SLUICE_RECORD_IS_PART) != 0) append_json_number("part", std::uint64_t{record.abi().part_index}, out);
  append_json_number("timestamp_us", record.timestamp_us(), out);
  if (record.origin_timestamp_us() != 0) append_json_number("origin_timestamp_us", record.origin_timestamp_us(), out);
  append_json_text("format", format_name(record.format()), out);
  if (record.schema_id() != 0) append_json_number("schema_id", std::uint64_t{record.schema_id()}, out);
  if (record.has_key()) append_json_bytes("key", record.key_or_empty(), out);
  if (!record.headers().empty()) {
    append_json_name("headers", out);
    out.push_back('[');
    for (const Header& header : record.headers()) {
      if (out.back() == '}') out.push_back(',');
      out.push_back('{');
      append_json_text("name", header.name(), out);
      append_json_bytes("value", header.value(), out);
      out.push_back('}');
    }
    out.push_back(']');
  }
  if (record.is_tombstone()) {
    append_json_name("payload", out);
    out.append("null");
  } else {
    append_json_bytes("payload", record.payload_or_empty(), out);
  }
  out.push_back('}');
}

}  // namespace sluice
