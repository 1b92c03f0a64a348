// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/sink_batch.hpp"

namespace sluice::pipeline {

namespace {

sluice_bytes abi_bytes(Bytes bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}
sluice_text abi_text(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

const sluice_batch& SinkBatch::fill(const plugin::Assignment& to, const LaneBatch& batch,
                                    const std::map<Offset, DeadLetterReason>& origins) {
  records_.resize(batch.items.size());
  bool has_headers = false;
  for (std::size_t i = 0; i < batch.items.size(); ++i) {
    const client::LogRecord& from = *batch.items[i].record;
    sluice_record& record = records_[i];
    record = {};
    record.struct_size = sizeof(sluice_record);
    record.format = from.record.format;
    record.schema_id = from.record.schema_id;
    record.id_low = from.record.id.low;
    record.id_high = from.record.id.high;
    if (from.record.key) {
      record.flags |= SLUICE_RECORD_HAS_KEY;
      record.key = abi_bytes(*from.record.key);
    }
    if (from.record.payload) {
      record.flags |= SLUICE_RECORD_HAS_PAYLOAD;
      record.payload = abi_bytes(*from.record.payload);
    }
    has_headers = has_headers || !from.record.headers.empty();
    record.origin_timestamp_us = from.record.origin_timestamp.value();
    record.offset = from.offset.value();
    record.timestamp_us = from.timestamp.value();
  }
  if (has_headers) lay_headers(batch);
  if (!origins.empty()) lay_origins(batch, origins);

  batch_ = {};
  batch_.struct_size = sizeof(sluice_batch);
  batch_.record_stride = sizeof(sluice_record);
  batch_.cluster_id_low = cluster_id_.low;
  batch_.cluster_id_high = cluster_id_.high;
  batch_.stream = abi_text(to.topic.stream);
  batch_.topic = abi_text(to.topic.topic);
  batch_.partition = to.partition.value();
  batch_.record_count = narrow<std::uint32_t>(records_.size());
  batch_.incarnation = to.incarnation.value();
  batch_.epoch = to.epoch.value();
  batch_.records = records_.data();
  return batch_;
}

void SinkBatch::lay_headers(const LaneBatch& batch) {
  headers_.clear();
  for (std::size_t i = 0; i < batch.items.size(); ++i) {
    const std::size_t before = headers_.size();
    for (const HeaderView header : batch.items[i].record->record.headers)
      headers_.push_back({abi_text(header.name), abi_bytes(header.value)});
    records_[i].header_count = narrow<std::uint32_t>(headers_.size() - before);
  }
  // Only now does the vector stay where it is.
  const sluice_header* at = headers_.data();
  for (sluice_record& record : records_) {
    if (record.header_count > 0) record.headers = at;
    at += record.header_count;
  }
}

void SinkBatch::lay_origins(const LaneBatch& batch, const std::map<Offset, DeadLetterReason>& origins) {
  origins_.clear();
  origins_.reserve(batch.items.size());
  for (std::size_t i = 0; i < batch.items.size(); ++i) {
    const auto found = origins.find(batch.items[i].record->offset);
    if (found == origins.end()) continue;
    const Coordinates& from = found->second.source;
    origins_.push_back({.struct_size = sizeof(sluice_origin),
                        .partition = from.partition.value(),
                        .cluster_id_low = from.cluster_id.low,
                        .cluster_id_high = from.cluster_id.high,
                        .stream = abi_text(from.topic.stream),
                        .topic = abi_text(from.topic.topic),
                        .incarnation = from.incarnation.value(),
                        .offset = from.offset.value()});
    records_[i].origin = &origins_.back();
  }
}

}  // namespace sluice::pipeline
