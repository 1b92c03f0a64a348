// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace sluice {

// An integer with a meaning: `Offset`, `Op`, `View`. Two different tags never mix, and construction is explicit.
// Arithmetic is the little that ids and positions need: next(), and + / - of a plain count.
template <typename Tag, std::integral T>
class StrongInt {
 public:
  using Value = T;

  constexpr StrongInt() = default;
  constexpr explicit StrongInt(T value) : value_(value) {}

  [[nodiscard]] constexpr T value() const { return value_; }
  [[nodiscard]] constexpr StrongInt next() const { return StrongInt(static_cast<T>(value_ + 1)); }

  friend constexpr auto operator<=>(StrongInt, StrongInt) = default;
  friend constexpr StrongInt operator+(StrongInt a, T n) { return StrongInt(static_cast<T>(a.value_ + n)); }
  friend constexpr StrongInt operator-(StrongInt a, T n) { return StrongInt(static_cast<T>(a.value_ - n)); }
  // The distance between two positions; the caller knows that a >= b.
  friend constexpr T operator-(StrongInt a, StrongInt b) { return static_cast<T>(a.value_ - b.value_); }

 private:
  T value_{};
};

}  // namespace sluice

template <typename Tag, typename T>
struct std::hash<sluice::StrongInt<Tag, T>> {
  std::size_t operator()(sluice::StrongInt<Tag, T> v) const noexcept { return std::hash<T>{}(v.value()); }
};

template <typename Tag, typename T>
struct fmt::formatter<sluice::StrongInt<Tag, T>> : fmt::formatter<T> {
  template <typename Context>
  auto format(sluice::StrongInt<Tag, T> v, Context& context) const {
    return fmt::formatter<T>::format(v.value(), context);
  }
};
