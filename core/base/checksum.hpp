// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/u128.hpp"

namespace sluice {

// XXH3 with seed 0, as in the xxHash specification. Not cryptographic: they detect damage, not malice.
[[nodiscard]] std::uint64_t xxh3_64(Bytes bytes);
[[nodiscard]] U128 xxh3_128(Bytes bytes);

}  // namespace sluice
