// SPDX-License-Identifier: Apache-2.0
// The message frame: one record inside a batch. docs/reference/log-format.md, "Message frame".
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/entry/limits.hpp"
#include "core/entry/record.hpp"

namespace sluice::entry {

// Size of the record's bytes as the limit counts them: key + payload + encoded headers.
[[nodiscard]] std::size_t record_bytes(const RecordView& record);
[[nodiscard]] inline std::size_t frame_bytes(const RecordView& record) {
  return kMessageHeaderBytes + record_bytes(record);
}

struct FrameDeltas {
  std::uint32_t offset = 0;     // from the entry's base offset
  std::uint64_t timestamp = 0;  // µs from the entry's min origin timestamp
};

// Appends one frame. Errors: entry.record_too_large; nothing was appended then.
[[nodiscard]] Result<void> append_message(ByteVector& out, const RecordView& record, FrameDeltas deltas);

struct Message {
  FrameDeltas deltas;
  RecordView record;  // origin_timestamp is not filled in: it needs the entry's header
  std::size_t frame_bytes = 0;
};

// Decodes the frame at the start of untrusted bytes; what follows it is the caller's. Errors: entry.bad_shape, entry.bad_record.
[[nodiscard]] Result<Message> decode_message(Bytes bytes);

}  // namespace sluice::entry
