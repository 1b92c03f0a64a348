// SPDX-License-Identifier: Apache-2.0
#include "runtime/isolation/message.hpp"

#include <chrono>
#include <span>
#include <string>

namespace sluice::isolation {

namespace {

constexpr std::uint64_t kRecordFixedBytes = 96;  // more than the fields of a record take beside its bytes
constexpr std::uint64_t kHeaderFixedBytes = 8;

bool get_string(ByteReader& in, std::string& text) {
  const auto got = in.get_sized();
  if (got) text = as_text(*got);
  return got.has_value();
}

// Appends headers and, if there is one, the origin; record.headers is for the caller to set.
bool get_record(ByteReader& in, sluice_record& record, std::vector<sluice_header>& headers, std::deque<sluice_origin>& origins) {
  record = {};
  record.struct_size = sizeof record;
  std::uint8_t has_origin = 0;
  if (!get(in, record.flags) || !get(in, record.format) || !get(in, record.schema_id) || !get(in, record.id_low) ||
      !get(in, record.id_high) || !get(in, record.key) || !get(in, record.payload) || !get(in, record.origin_timestamp_us) ||
      !get(in, record.offset) || !get(in, record.timestamp_us) || !get(in, record.part_index) || !get(in, has_origin)) {
    return false;
  }
  if (has_origin != 0) {
    sluice_origin& origin = origins.emplace_back();
    origin.struct_size = sizeof origin;
    if (!get(in, origin.cluster_id_low) || !get(in, origin.cluster_id_high) || !get(in, origin.stream) || !get(in, origin.topic) ||
        !get(in, origin.partition) || !get(in, origin.incarnation) || !get(in, origin.offset)) {
      return false;
    }
    record.origin = &origin;
  }
  if (!get(in, record.header_count) || record.header_count > in.remaining() / kHeaderFixedBytes) return false;
  for (std::uint32_t i = 0; i < record.header_count; ++i) {
    sluice_header& header = headers.emplace_back();
    if (!get(in, header.name) || !get(in, header.value)) return false;
  }
  return true;
}

}  // namespace

std::string_view name_of(CallKind kind) {
  constexpr std::array<std::string_view, 13> kNames{"",       "create",        "open", "close",     "assign", "write", "flush",
                                                    "revoke", "migrate_state", "poll", "on_result", "pause",  "resume"};
  const auto at = static_cast<std::size_t>(kind);
  return at < kNames.size() ? kNames.at(at) : "";
}

std::array<std::byte, 24> encode(const CallPacket& packet) {
  std::array<std::byte, 24> out{};
  store_le(out.data(), packet.kind);
  store_le(out.data() + 4, packet.attempt);
  store_le(out.data() + 8, packet.deadline_ns);
  store_le(out.data() + 16, packet.bytes);
  return out;
}

std::array<std::byte, 16> encode(const AnswerPacket& packet) {
  std::array<std::byte, 16> out{};
  store_le(out.data(), packet.kind);
  store_le(out.data() + 4, packet.status);
  store_le(out.data() + 8, packet.bytes);
  return out;
}

std::optional<CallPacket> decode_call(Bytes packet) {
  ByteReader in(packet);
  CallPacket out;
  if (!get(in, out.kind) || !get(in, out.attempt) || !get(in, out.deadline_ns) || !get(in, out.bytes) || !in.finished())
    return std::nullopt;
  return out;
}

std::optional<AnswerPacket> decode_answer(Bytes packet) {
  ByteReader in(packet);
  AnswerPacket out;
  if (!get(in, out.kind) || !get(in, out.status) || !get(in, out.bytes) || !in.finished()) return std::nullopt;
  return out;
}

void put_text(ByteWriter& out, sluice_text text) {
  out.put_sized(std::string_view(text.ptr, text.len));
}

void put_bytes(ByteWriter& out, sluice_bytes bytes) {
  out.put_sized(Bytes(reinterpret_cast<const std::byte*>(bytes.ptr), bytes.len));
}

bool get(ByteReader& in, sluice_text& text) {
  const auto got = in.get_sized();
  if (got) text = {reinterpret_cast<const char*>(got->data()), got->size()};
  return got.has_value();
}

bool get(ByteReader& in, sluice_bytes& bytes) {
  const auto got = in.get_sized();
  if (got) bytes = {reinterpret_cast<const std::uint8_t*>(got->data()), got->size()};
  return got.has_value();
}

void put_outcome(ByteWriter& out, const plugin::Outcome& outcome) {
  out.put(static_cast<std::uint16_t>(outcome.outcome_class));
  out.put(static_cast<std::uint16_t>(outcome.scope));
  out.put(outcome.http_status);
  out.put(static_cast<std::int64_t>(outcome.retry_after.value_or(std::chrono::milliseconds(0)).count()));
  for (const std::string* text : {&outcome.code, &outcome.text, &outcome.hint, &outcome.pointer}) out.put_sized(*text);
}

std::optional<plugin::Outcome> get_outcome(ByteReader& in) {
  std::uint16_t outcome_class = 0;
  std::uint16_t scope = 0;
  std::int64_t retry_after_ms = 0;
  plugin::Outcome out;
  if (!get(in, outcome_class) || !get(in, scope) || !get(in, out.http_status) || !get(in, retry_after_ms) || !get_string(in, out.code) ||
      !get_string(in, out.text) || !get_string(in, out.hint) || !get_string(in, out.pointer)) {
    return std::nullopt;
  }
  // What they mean is judged by whoever reads an outcome of a plugin.
  out.outcome_class = static_cast<plugin::OutcomeClass>(outcome_class);
  out.scope = static_cast<plugin::Scope>(scope);
  if (retry_after_ms > 0) out.retry_after = std::chrono::milliseconds(retry_after_ms);
  return out;
}

sluice_outcome abi_outcome(const plugin::Outcome& outcome) {
  const auto text = [](const std::string& of) { return sluice_text{of.data(), of.size()}; };
  sluice_outcome out{};
  out.struct_size = sizeof out;
  out.outcome_class = static_cast<std::uint16_t>(outcome.outcome_class);
  out.scope = static_cast<std::uint16_t>(outcome.scope);
  out.http_status = outcome.http_status;
  out.retry_after_ms = outcome.retry_after.value_or(std::chrono::milliseconds(0)).count();
  out.code = text(outcome.code);
  out.text = text(outcome.text);
  out.hint = text(outcome.hint);
  out.pointer = text(outcome.pointer);
  return out;
}

void put_assignment(ByteWriter& out, const sluice_assignment& assignment) {
  out.put(assignment.partition);
  out.put(U128{assignment.cluster_id_low, assignment.cluster_id_high});
  put_text(out, assignment.stream);
  put_text(out, assignment.topic);
  out.put(assignment.incarnation);
  out.put(assignment.epoch);
  out.put(assignment.committed_next);
}

bool get(ByteReader& in, sluice_assignment& assignment) {
  assignment = {};
  assignment.struct_size = sizeof assignment;
  return get(in, assignment.partition) && get(in, assignment.cluster_id_low) && get(in, assignment.cluster_id_high) &&
         get(in, assignment.stream) && get(in, assignment.topic) && get(in, assignment.incarnation) && get(in, assignment.epoch) &&
         get(in, assignment.committed_next);
}

void put_record(ByteWriter& out, const sluice_record& record) {
  out.put(record.flags);
  out.put(record.format);
  out.put(record.schema_id);
  out.put(U128{record.id_low, record.id_high});
  put_bytes(out, record.key);
  put_bytes(out, record.payload);
  out.put(record.origin_timestamp_us);
  out.put(record.offset);
  out.put(record.timestamp_us);
  out.put(record.part_index);
  out.put(static_cast<std::uint8_t>(record.origin == nullptr ? 0 : 1));
  if (record.origin != nullptr) {
    out.put(U128{record.origin->cluster_id_low, record.origin->cluster_id_high});
    put_text(out, record.origin->stream);
    put_text(out, record.origin->topic);
    out.put(record.origin->partition);
    out.put(record.origin->incarnation);
    out.put(record.origin->offset);
  }
  out.put(record.header_count);
  for (const sluice_header& header : std::span(record.headers, record.header_count)) {
    put_text(out, header.name);
    put_bytes(out, header.value);
  }
}

std::uint64_t encoded_bytes(const sluice_record& record) {
  std::uint64_t bytes = kRecordFixedBytes + record.key.len + record.payload.len;
  for (const sluice_header& header : std::span(record.headers, record.header_count)) {
    bytes += kHeaderFixedBytes + header.name.len + header.value.len;
  }
  return bytes;
}

void put_batch(ByteWriter& out, const sluice_batch& batch) {
  out.put(U128{batch.cluster_id_low, batch.cluster_id_high});
  put_text(out, batch.stream);
  put_text(out, batch.topic);
  out.put(batch.partition);
  out.put(batch.incarnation);
  out.put(batch.epoch);
  out.put(batch.record_count);
  const auto* at = reinterpret_cast<const std::byte*>(batch.records);
  for (std::uint32_t i = 0; i < batch.record_count; ++i, at += batch.record_stride) {
    put_record(out, *reinterpret_cast<const sluice_record*>(at));
  }
}

bool ReadRecord::read(ByteReader& in) {
  headers_.clear();
  origins_.clear();
  if (!get_record(in, record_, headers_, origins_)) return false;
  record_.headers = headers_.data();
  return true;
}

bool ReadBatch::read(ByteReader& in) {
  batch_ = {};
  batch_.struct_size = sizeof batch_;
  batch_.record_stride = sizeof(sluice_record);
  records_.clear();
  first_headers_.clear();
  headers_.clear();
  origins_.clear();
  if (!get(in, batch_.cluster_id_low) || !get(in, batch_.cluster_id_high) || !get(in, batch_.stream) || !get(in, batch_.topic) ||
      !get(in, batch_.partition) || !get(in, batch_.incarnation) || !get(in, batch_.epoch) || !get(in, batch_.record_count)) {
    return false;
  }
  for (std::uint32_t i = 0; i < batch_.record_count; ++i) {
    first_headers_.push_back(headers_.size());
    if (!get_record(in, records_.emplace_back(), headers_, origins_)) return false;
  }
  // Only now the headers have their places.
  for (std::size_t i = 0; i < records_.size(); ++i) records_[i].headers = headers_.data() + first_headers_[i];
  batch_.records = records_.data();
  return true;
}

}  // namespace sluice::isolation
