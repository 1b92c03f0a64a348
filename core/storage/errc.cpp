// SPDX-License-Identifier: Apache-2.0
#include "core/storage/errc.hpp"

#include <array>

namespace sluice::storage {

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 1> kTable{{
      {"storage.locked", ErrorKind::kConflict, "Another process works on these files. Stop it first; the message has its process id."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

}  // namespace sluice::storage
