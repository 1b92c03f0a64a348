// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::file_source {

// Part of the state format: another value is another state version.
inline constexpr std::size_t kFingerprintBytes = 1024;

// The first and the last kFingerprintBytes of what was delivered of a file. It covers delivered bytes only, so it never changes while a
// file just grows; a file that was cut and written anew differs in the head or, if it begins with the same banner, before the offset.
class Fingerprint {
 public:
  // `bytes` were delivered next.
  void extend(std::string_view bytes);

  [[nodiscard]] const std::string& head() const { return head_; }
  [[nodiscard]] const std::string& tail() const { return tail_; }
  [[nodiscard]] std::uint64_t hash() const;

 private:
  std::string head_;
  std::string tail_;
};

}  // namespace sluice::file_source
