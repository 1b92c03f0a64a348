// SPDX-License-Identifier: Apache-2.0
// Views of the ABI's records and batches. They own nothing: a view is valid only for the call that passes it. Bytes are string_views of any
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sluice/abi/record.h>
#include <sluice/abi/sink.h>

namespace sluice {

enum class Format : std::uint16_t {
  kRaw = SLUICE_FORMAT_RAW,
  kJson = SLUICE_FORMAT_JSON,
  kText = SLUICE_FORMAT_TEXT,
  kCsv = SLUICE_FORMAT_CSV,
  kAvro = SLUICE_FORMAT_AVRO,
  kProtobuf = SLUICE_FORMAT_PROTOBUF,
  kFlatbuffers = SLUICE_FORMAT_FLATBUFFERS,
};

[[nodiscard]] inline std::string_view view(sluice_text text) {
  return {text.ptr, static_cast<std::size_t>(text.len)};
}
[[nodiscard]] inline std::string_view view(sluice_bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.ptr), static_cast<std::size_t>(bytes.len)};
}
[[nodiscard]] inline sluice_text abi_text(std::string_view text) {
  return {text.data(), text.size()};
}
[[nodiscard]] inline sluice_bytes abi_bytes(std::string_view bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

// One header: a name in UTF-8 and any bytes. Has the layout of sluice_header.
class Header {
 public:
  Header(std::string_view name, std::string_view value) : abi_{abi_text(name), abi_bytes(value)} {}

  [[nodiscard]] std::string_view name() const { return view(abi_.name); }
  [[nodiscard]] std::string_view value() const { return view(abi_.value); }

 private:
  sluice_header abi_;
};
static_assert(sizeof(Header) == sizeof(sluice_header) && alignof(Header) == alignof(sluice_header));

// A record that a sink is given.
class Record {
 public:
  explicit Record(const sluice_record& abi) : abi_(&abi) {}

  [[nodiscard]] std::uint64_t id_low() const { return abi_->id_low; }
  [[nodiscard]] std::uint64_t id_high() const { return abi_->id_high; }
  // Absent is not empty; key_or_empty for those who do not care.
  [[nodiscard]] std::optional<std::string_view> key() const { return has_key() ? std::optional(view(abi_->key)) : std::nullopt; }
  [[nodiscard]] bool has_key() const { return (abi_->flags & SLUICE_RECORD_HAS_KEY) != 0; }
  [[nodiscard]] std::string_view key_or_empty() const { return has_key() ? view(abi_->key) : std::string_view(); }
  // An absent payload is a tombstone.
  [[nodiscard]] std::optional<std::string_view> payload() const {
    return is_tombstone() ? std::nullopt : std::optional(view(abi_->payload));
  }
  [[nodiscard]] bool is_tombstone() const { return (abi_->flags & SLUICE_RECORD_HAS_PAYLOAD) == 0; }
  [[nodiscard]] std::string_view payload_or_empty() const { return is_tombstone() ? std::string_view() : view(abi_->payload); }
  [[nodiscard]] std::span<const Header> headers() const { return {reinterpret_cast<const Header*>(abi_->headers), abi_->header_count}; }
  [[nodiscard]] Format format() const { return static_cast<Format>(abi_->format); }
  [[nodiscard]] std::uint32_t schema_id() const { return abi_->schema_id; }
  [[nodiscard]] std::int64_t origin_timestamp_us() const { return abi_->origin_timestamp_us; }
  [[nodiscard]] std::int64_t timestamp_us() const { return abi_->timestamp_us; }
  [[nodiscard]] std::uint64_t offset() const { return abi_->offset; }

  [[nodiscard]] const sluice_record& abi() const { return *abi_; }

 private:
  const sluice_record* abi_;
};

// Records of one partition in order of offset; at least one.
class Batch {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Record;
    using difference_type = std::ptrdiff_t;
    using pointer = const Record*;
    using reference = Record;

    Iterator() = default;
    Iterator(const std::byte* at, std::uint32_t stride) : at_(at), stride_(stride) {}
    [[nodiscard]] Record operator*() const { return Record(*reinterpret_cast<const sluice_record*>(at_)); }
    Iterator& operator++() {
      at_ += stride_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const std::byte* at_ = nullptr;
    std::uint32_t stride_ = 0;
  };

  explicit Batch(const sluice_batch& abi) : abi_(&abi) {}

  [[nodiscard]] std::uint32_t size() const { return abi_->record_count; }
  [[nodiscard]] Record operator[](std::uint32_t index) const { return Record(*reinterpret_cast<const sluice_record*>(address(index))); }
  [[nodiscard]] Iterator begin() const { return {address(0), abi_->record_stride}; }
  [[nodiscard]] Iterator end() const { return {address(abi_->record_count), abi_->record_stride}; }

  [[nodiscard]] std::string_view stream() const { return view(abi_->stream); }
  [[nodiscard]] std::string_view topic() const { return view(abi_->topic); }
  [[nodiscard]] std::uint32_t partition() const { return abi_->partition; }
  [[nodiscard]] std::uint64_t incarnation() const { return abi_->incarnation; }
  [[nodiscard]] std::uint64_t epoch() const { return abi_->epoch; }

  [[nodiscard]] const sluice_batch& abi() const { return *abi_; }

 private:
  [[nodiscard]] const std::byte* address(std::uint32_t index) const {
    return reinterpret_cast<const std::byte*>(abi_->records) + static_cast<std::size_t>(index) * abi_->record_stride;
  }

  const sluice_batch* abi_;
};

// Appends "<cluster id>:<stream>:<topic>:<partition>:<incarnation>:<offset>[:<part>]": the same for every attempt at the same record,
// different for every other record of every cluster. A redriven dead letter has the key of its origin.
void append_dedup_key(const Batch& batch, const Record& record, std::string& out);
[[nodiscard]] std::string dedup_key(const Batch& batch, const Record& record);

// A partition that a sink owns from assign to revoke.
class Assignment {
 public:
  explicit Assignment(const sluice_assignment& abi) : abi_(&abi) {}

  [[nodiscard]] std::string_view stream() const { return view(abi_->stream); }
  [[nodiscard]] std::string_view topic() const { return view(abi_->topic); }
  [[nodiscard]] std::uint32_t partition() const { return abi_->partition; }
  [[nodiscard]] std::uint64_t incarnation() const { return abi_->incarnation; }
  [[nodiscard]] std::uint64_t epoch() const { return abi_->epoch; }
  [[nodiscard]] std::uint64_t committed_next() const { return abi_->committed_next; }
  // 32 lower-case hex digits.
  [[nodiscard]] std::string cluster_id() const;

  [[nodiscard]] const sluice_assignment& abi() const { return *abi_; }

 private:
  const sluice_assignment* abi_;
};

}  // namespace sluice
