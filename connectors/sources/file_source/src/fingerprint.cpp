// SPDX-License-Identifier: Apache-2.0
#include "fingerprint.hpp"

#include <xxhash.h>

#include <algorithm>

namespace sluice::file_source {

void Fingerprint::extend(std::string_view bytes) {
  head_.append(bytes.substr(0, std::min(bytes.size(), kFingerprintBytes - head_.size())));
  if (bytes.size() >= kFingerprintBytes) {
    tail_.assign(bytes.substr(bytes.size() - kFingerprintBytes));
    return;
  }
  tail_.append(bytes);
  if (tail_.size() > kFingerprintBytes) tail_.erase(0, tail_.size() - kFingerprintBytes);
}

std::uint64_t Fingerprint::hash() const {
  const std::string both = head_ + tail_;
  return XXH3_64bits(both.data(), both.size());
}

}  // namespace sluice::file_source
