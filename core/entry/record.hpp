// SPDX-License-Identifier: Apache-2.0
// The record: what a source makes and a sink takes. Absent is not empty, for the key and for the payload (an absent payload is a
// tombstone).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace sluice {

struct HeaderView {
  std::string_view name;  // UTF-8
  Bytes value;
};

// Ordered headers of one record, duplicates allowed, as views into their encoded form: repeated {name size u16, value size u32, name,
// value}. The bytes were checked when the view was made (parse, or Headers), so iteration cannot fail. Valid as long as the bytes are.
class HeadersView {
 public:
  static constexpr std::size_t kPrefixBytes = 6;

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = HeaderView;
    using difference_type = std::ptrdiff_t;
    using pointer = const HeaderView*;
    using reference = HeaderView;

    Iterator() = default;
    explicit Iterator(const std::byte* at) : at_(at) {}
    [[nodiscard]] HeaderView operator*() const {
      const std::size_t name_size = load_le<std::uint16_t>(at_);
      const std::size_t value_size = load_le<std::uint32_t>(at_ + 2);
      return {as_text({at_ + kPrefixBytes, name_size}), {at_ + kPrefixBytes + name_size, value_size}};
    }
    Iterator& operator++() {
      at_ += kPrefixBytes + load_le<std::uint16_t>(at_) + load_le<std::uint32_t>(at_ + 2);
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    const std::byte* at_ = nullptr;
  };

  HeadersView() = default;
  // Checks that the headers tile the bytes exactly and keep the limits of entry/limits.hpp. Errors: entry.bad_record.
  [[nodiscard]] static Result<HeadersView> parse(Bytes encoded);
  // For bytes that parse() or Headers accepted before.
  [[nodiscard]] static HeadersView from_checked(Bytes encoded) { return HeadersView(encoded); }

  [[nodiscard]] Iterator begin() const { return Iterator(encoded_.data()); }
  [[nodiscard]] Iterator end() const { return Iterator(encoded_.data() + encoded_.size()); }
  [[nodiscard]] bool empty() const { return encoded_.empty(); }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(std::distance(begin(), end())); }
  // The first header of that name.
  [[nodiscard]] std::optional<Bytes> find(std::string_view name) const;
  [[nodiscard]] Bytes encoded() const { return encoded_; }

 private:
  explicit HeadersView(Bytes checked) : encoded_(checked) {}

  Bytes encoded_;
};

// Owning headers. add() keeps order and duplicates.
class Headers {
 public:
  // Errors: entry.bad_record (name empty, longer than its limit or not UTF-8; too many headers; value beyond the record limit).
  [[nodiscard]] Result<void> add(std::string_view name, Bytes value);
  [[nodiscard]] static Headers copy_of(HeadersView view);
  [[nodiscard]] HeadersView view() const { return HeadersView::from_checked(encoded_); }
  void clear() {
    encoded_.clear();
    count_ = 0;
  }

 private:
  ByteVector encoded_;
  std::size_t count_ = 0;
};

// A record as views into somebody else's bytes.
struct RecordView {
  U128 id;
  std::optional<Bytes> key;
  std::optional<Bytes> payload;
  TimestampUs origin_timestamp;
  HeadersView headers;
  std::uint16_t format = 0;
  std::uint32_t schema_id = 0;
};

// A record that owns its bytes.
struct Record {
  U128 id;
  std::optional<ByteVector> key;
  std::optional<ByteVector> payload;
  TimestampUs origin_timestamp;
  Headers headers;
  std::uint16_t format = 0;
  std::uint32_t schema_id = 0;

  [[nodiscard]] RecordView view() const;
  // Copies the bytes.
  [[nodiscard]] static Record copy_of(const RecordView& view);
};

}  // namespace sluice
