// SPDX-License-Identifier: Apache-2.0
// The entry: the replicated operation. The bytes acknowledged, shipped, stored and served are the same bytes, and they never change.
// docs/reference/log-format.md, "Entry".
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/entry/errc.hpp"
#include "core/entry/limits.hpp"

namespace sluice::entry {

enum class EntryKind : std::uint8_t {
  kMessages = 1,        // a batch, see batch.hpp
  kPartitionOp = 2,     // consumer offsets, epochs, trims: the body belongs to core/partition
  kCatalogCommand = 3,  // the body belongs to core/metadata
  kGap = 4,             // offsets [base_offset, next_offset) will never hold a message; no body
};
[[nodiscard]] std::string_view to_string(EntryKind kind);

enum class Codec : std::uint8_t { kNone = 1 };  // batch compression, later

inline constexpr std::uint32_t kEntryMagic = 0x45434C53;  // "SLCE"
inline constexpr std::uint32_t kEntryRelease = 1;

namespace flag {
inline constexpr std::uint16_t kMustSync = 1u << 0;        // acknowledged only after a sync
inline constexpr std::uint16_t kFirstOfSegment = 1u << 1;  // the primary decided to roll before this entry
inline constexpr std::uint16_t kHasClient = 1u << 2;       // client and request are set
inline constexpr std::uint16_t kAll = kMustSync | kFirstOfSegment | kHasClient;
}  // namespace flag

struct EntryHeader {
  U128 identity;       // XXH3-128 of the rest of the header, which holds body_checksum: one name for the whole entry
  U128 body_checksum;  // XXH3-128 of the body
  U128 parent;         // identity of the entry before, root_identity() for op 1
  ClientId client;
  std::uint32_t size = 0;  // header + body, without padding
  GroupId group;
  Incarnation incarnation;
  Op op;      // from 1
  Op commit;  // the primary's commit when it prepared this entry; < op
  RequestNumber request;
  Offset base_offset;
  Offset next_offset;
  TimestampUs base_timestamp;        // of every message in it; strictly increasing in a group
  TimestampUs min_origin_timestamp;  // messages only
  std::uint32_t message_count = 0;
  std::uint32_t messages_bytes = 0;  // frames at the start of the body; what follows is the state section
  View view;                         // in which it was first prepared; never restamped
  std::uint32_t release = kEntryRelease;
  EntryKind kind = EntryKind::kPartitionOp;
  Codec codec = Codec::kNone;
  std::uint16_t flags = 0;

  [[nodiscard]] bool has(std::uint16_t bit) const { return (flags & bit) != 0; }
  [[nodiscard]] std::size_t stored_bytes() const { return round_up(size, kEntryAlignment); }
  friend bool operator==(const EntryHeader&, const EntryHeader&) = default;
};

// The parent of op 1: ties a chain to its group and incarnation.
[[nodiscard]] U128 root_identity(GroupId group, Incarnation incarnation);

// Decodes and verifies the header at the start of untrusted bytes (identity, magic, sizes, known kind, codec and flags, reserved zero,
// fields that belong together). The body is not looked at. Errors: entry.truncated (fewer than kEntryHeaderBytes), entry.damaged
// (identity), entry.bad_shape, entry.newer_release.
[[nodiscard]] Result<EntryHeader> decode_entry_header(Bytes bytes);
// The same for a walk over many, into one place. After an error `out` holds nothing of use.
[[nodiscard]] Result<void> decode_entry_header(Bytes bytes, EntryHeader& out);

// A verified entry: a decoded header and views into bytes that somebody else keeps alive.
class EntryView {
 public:
  EntryView() = default;
  // Verifies exactly one entry: `bytes` is header, body and zero padding, and nothing else. Errors as decode_entry_header, and
  // entry.truncated or entry.bad_shape (trailing bytes), entry.damaged (body).
  [[nodiscard]] static Result<EntryView> verify(Bytes bytes);
  // Verifies the entry at the start of `bytes`, whatever follows it.
  [[nodiscard]] static Result<EntryView> verify_front(Bytes bytes);
  // The same in two steps, for a walk over many that looks at the header first. After an error the view holds nothing of use.
  [[nodiscard]] Result<void> take_header(Bytes bytes) { return decode_entry_header(bytes, header_); }
  // `bytes` begin where those of take_header() did.
  [[nodiscard]] Result<void> take_body(Bytes bytes);

  [[nodiscard]] const EntryHeader& header() const { return header_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }  // stored form, padding included
  [[nodiscard]] Bytes body() const { return bytes_.subspan(kEntryHeaderBytes, header_.size - kEntryHeaderBytes); }

 private:
  friend class EntryDraft;
  EntryView(const EntryHeader& header, Bytes bytes) : header_(header), bytes_(bytes) {}

  EntryHeader header_;
  Bytes bytes_;
};

// An entry and what keeps its bytes alive. Cheap to copy, immutable, any thread.
struct SharedEntry {
  EntryView view;
  std::shared_ptr<const void> owner;

  [[nodiscard]] const EntryHeader& header() const { return view.header(); }
};

// Its place in the log, given by the primary.
struct EntryStamp {
  GroupId group;
  Incarnation incarnation;
  Op op;
  U128 parent;
  Op commit;
  View view;
  Offset base_offset;
  TimestampUs timestamp;
  bool must_sync = true;
  bool first_of_segment = false;
};

// An entry before it has a place: body complete and hashed. Made on any thread, stamped once on the primary's shard.
class EntryDraft {
 public:
  // An operation with an opaque body (kPartitionOp, kCatalogCommand). Errors: entry.body_too_large, entry.bad_shape (empty body).
  [[nodiscard]] static Result<EntryDraft> operation(EntryKind kind, Bytes body);
  // Offsets [stamp.base_offset, next) are skipped for ever.
  [[nodiscard]] static EntryDraft gap(Offset next);

  // Whose request it is; for the client table.
  void set_request(ClientId client, RequestNumber request);

  // What stamp() gives is not set yet.
  [[nodiscard]] const EntryHeader& header() const { return header_; }
  [[nodiscard]] EntryKind kind() const { return header_.kind; }
  [[nodiscard]] std::uint32_t message_count() const { return header_.message_count; }
  [[nodiscard]] std::size_t stored_bytes() const { return header_.stored_bytes(); }

  // Writes the header and gives up the bytes. Hashes the header only. The stamp is checked by assertion: it is the primary's own.
  [[nodiscard]] SharedEntry stamp(const EntryStamp& stamp) &&;

 private:
  friend class BatchBuilder;
  // Hashes the body and pads it.
  [[nodiscard]] static EntryDraft complete(EntryHeader header, ByteVector bytes);
  EntryDraft(EntryHeader header, ByteVector bytes) : header_(header), bytes_(std::move(bytes)) {}

  EntryHeader header_;  // for a gap, next_offset is final; else it is set by stamp()
  ByteVector bytes_;    // kEntryHeaderBytes of room, body, padding
};

}  // namespace sluice::entry
