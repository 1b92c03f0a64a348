// SPDX-License-Identifier: Apache-2.0
#include "core/base/checksum.hpp"

#include <xxhash.h>
#if defined(__x86_64__)
// Redefines the functions used here to those that choose SSE2, AVX2 or AVX-512 at run time.
#include <xxh_x86dispatch.h>
#endif

namespace sluice {

std::uint64_t xxh3_64(Bytes bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

U128 xxh3_128(Bytes bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return U128{hash.low64, hash.high64};
}

}  // namespace sluice
