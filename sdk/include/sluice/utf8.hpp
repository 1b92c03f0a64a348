// SPDX-License-Identifier: Apache-2.0
// Pure. [any thread]
#pragma once

#include <string_view>

namespace sluice {

// True if the bytes are well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view bytes);

}  // namespace sluice
