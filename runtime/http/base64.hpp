// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace sluice::http {

// RFC 4648, section 4: the standard alphabet with padding, no line breaks.
[[nodiscard]] std::string base64_encode(Bytes bytes);
// Strict: anything but well-formed, padded base64 is nothing.
[[nodiscard]] std::optional<ByteVector> base64_decode(std::string_view text);

}  // namespace sluice::http
