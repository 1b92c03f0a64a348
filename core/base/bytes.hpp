// SPDX-License-Identifier: Apache-2.0
// Byte views and little-endian encoding: the one place where integers meet bytes.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/assert.hpp"
#include "core/base/u128.hpp"

namespace sluice {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;
using ByteVector = std::vector<std::byte>;

[[nodiscard]] inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
[[nodiscard]] inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <std::integral T>
[[nodiscard]] T load_le(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  return value;
}

template <std::integral T>
void store_le(std::byte* to, T value) {
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  std::memcpy(to, &value, sizeof value);
}

// Narrows a size or count that the caller has bounded. A value that does not fit is a programmer error.
template <std::integral To, std::integral From>
[[nodiscard]] constexpr To narrow(From value) {
  SLUICE_ASSERT(std::in_range<To>(value), "value {} does not fit", value);
  return static_cast<To>(value);
}

[[nodiscard]] constexpr std::size_t round_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Appends little-endian values to a buffer it does not own.
class ByteWriter {
 public:
  explicit ByteWriter(ByteVector& out) : out_(out) {}

  template <std::integral T>
  void put(T value) {
    const std::size_t at = out_.size();
    out_.resize(at + sizeof(T));
    store_le(out_.data() + at, value);
  }
  void put(U128 value) {
    put(value.low);
    put(value.high);
  }
  void put_bytes(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  // u32 length, then the bytes.
  void put_sized(Bytes bytes) {
    put(narrow<std::uint32_t>(bytes.size()));
    put_bytes(bytes);
  }
  void put_sized(std::string_view text) { put_sized(as_bytes(text)); }
  void put_zeros(std::size_t count) { out_.resize(out_.size() + count); }

 private:
  ByteVector& out_;
};

// Reads little-endian values from untrusted bytes. Every read says whether it was possible; after a failure all further reads fail.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  template <std::integral T>
  [[nodiscard]] std::optional<T> get() {
    const auto raw = get_bytes(sizeof(T));
    if (!raw) return std::nullopt;
    return load_le<T>(raw->data());
  }
  [[nodiscard]] std::optional<U128> get_u128() {
    const auto low = get<std::uint64_t>();
    const auto high = get<std::uint64_t>();
    if (!low || !high) return std::nullopt;
    return U128{*low, *high};
  }
  [[nodiscard]] std::optional<Bytes> get_bytes(std::size_t count) {
    if (failed_ || count > bytes_.size() - position_) {
      failed_ = true;
      return std::nullopt;
    }
    const Bytes out = bytes_.subspan(position_, count);
    position_ += count;
    return out;
  }
  [[nodiscard]] std::optional<Bytes> get_sized() {
    const auto length = get<std::uint32_t>();
    if (!length) return std::nullopt;
    return get_bytes(*length);
  }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return failed_ ? 0 : bytes_.size() - position_; }
  [[nodiscard]] bool failed() const { return failed_; }
  // True if everything was read, nothing failed and no byte is left over.
  [[nodiscard]] bool finished() const { return !failed_ && position_ == bytes_.size(); }

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
  bool failed_ = false;
};

}  // namespace sluice
