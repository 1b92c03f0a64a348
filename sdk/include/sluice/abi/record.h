// SPDX-License-Identifier: Apache-2.0
// The record and the batch, as plugins see them: views into the host's buffers (sinks) or into the plugin's (sources).
#ifndef SLUICE_ABI_RECORD_H
#define SLUICE_ABI_RECORD_H

#include <sluice/abi/bytes.h>

#ifdef __cplusplus
extern "C" {
#endif

// One header. Order is kept, names may repeat. Never grows.
typedef struct sluice_header {
  sluice_text name;
  sluice_bytes value;
} sluice_header;

// Bits of sluice_record.flags. Unknown bits are ignored by a sink and are an error from a source.
enum {
  SLUICE_RECORD_HAS_KEY = 1u << 0,      // without it the key is absent, which is not the same as empty
  SLUICE_RECORD_HAS_PAYLOAD = 1u << 1,  // without it the record is a tombstone, which is not the same as an empty payload
  SLUICE_RECORD_IS_PART = 1u << 2,      // sinks: a transform made several records of one offset; part_index tells them apart
};

// Values of sluice_record.format: what the payload's bytes are. A label that follows the data; the host decodes only where it must.
enum {
  SLUICE_FORMAT_RAW = 0,
  SLUICE_FORMAT_JSON = 1,
  SLUICE_FORMAT_TEXT = 2,  // UTF-8
  SLUICE_FORMAT_CSV = 3,
  SLUICE_FORMAT_AVRO = 4,
  SLUICE_FORMAT_PROTOBUF = 5,
  SLUICE_FORMAT_FLATBUFFERS = 6,
};

// Where a redriven dead letter came from. It serves the dedup key alone; offsets and positions are those of the batch.
typedef struct sluice_origin {
  uint32_t struct_size;
  uint32_t partition;
  uint64_t cluster_id_low;
  uint64_t cluster_id_high;
  sluice_text stream;
  sluice_text topic;
  uint64_t incarnation;
  uint64_t offset;
} sluice_origin;

typedef struct sluice_record {
  uint32_t struct_size;
  uint16_t flags;
  uint16_t format;
  uint32_t schema_id;  // 0 = none
  uint32_t header_count;
  uint64_t id_low;  // the record's id; both words 0 from a source: the host makes one
  uint64_t id_high;
  sluice_bytes key;
  sluice_bytes payload;
  const sluice_header* headers;
  int64_t origin_timestamp_us;  // since 1970 UTC, when it happened at its origin; from a source 0 = unknown

  // From here on set by the host for sinks; a source leaves them 0.
  uint64_t offset;
  int64_t timestamp_us;  // when the log took it
  uint32_t part_index;
  uint32_t reserved;
  const sluice_origin* origin;  // null, except for a redriven dead letter
} sluice_record;

// Records of one partition in order of offset. Offsets may have gaps; parts of one offset follow each other by part_index.
typedef struct sluice_batch {
  uint32_t struct_size;
  uint32_t record_stride;  // bytes from one record to the next: records grow, so do not index with sizeof
  uint64_t cluster_id_low;
  uint64_t cluster_id_high;
  sluice_text stream;
  sluice_text topic;
  uint32_t partition;
  uint32_t record_count;  // ≥ 1
  uint64_t incarnation;   // a recreated topic has another one
  uint64_t epoch;         // of the assignment this batch belongs to
  const sluice_record* records;
} sluice_batch;

#ifdef __cplusplus
}
#endif

#endif
