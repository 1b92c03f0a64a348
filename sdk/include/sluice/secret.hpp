// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace sluice {

// A text that must not be seen: a password, a token, a header with credentials. It has no stream operator and no conversion; `reveal` marks
// each place that lets it out. The host masks its value in all logs, too.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  [[nodiscard]] std::string_view reveal() const { return value_; }
  [[nodiscard]] bool empty() const { return value_.empty(); }

 private:
  std::string value_;
};

}  // namespace sluice
